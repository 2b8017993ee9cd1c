// Messages to the transport, rows to the journal's thread, signatures checked in the pool, all answers posted back.
#include "runtime/agent/real_world.h"

#include <boost/asio/post.hpp>
#include <future>
#include <utility>

#include "base/check.h"
#include "core/model/record_reader.h"
#include "protocol/codec.h"

namespace abacus {
namespace {

/// What attempts leave behind must be known before the executor is asked what it found.
void remember_work(Runs& runs, const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (const auto* sold = std::get_if<SoldLeaseRecord>(&record)) runs.remember(*sold);
    if (const auto* run = std::get_if<RunRecord>(&record)) runs.remember(*run);
  }
}

Result<std::vector<Record>> decode_rows(const std::vector<Journal::Row>& rows) {
  RecordReader reader;
  for (const Journal::Row& row : rows) TRY_STATUS(reader.add(row.kind, row.key, row.value));
  return reader.take();
}

}  // namespace

void RealWorld::carry_out(Effect effect) {
  std::visit([&](auto& e) { act(e); }, effect);
}

void RealWorld::act(Send& send) {
  if (transport_ == nullptr) return;
  Endpoint at = send.to.endpoint.known() ? send.to.endpoint : parts_.endpoint_of(send.to.node);
  transport_->send(send.to.node, at, encode_envelope({std::move(send.message), send.trace}));
}

void RealWorld::act(KeepConnections& keep) {
  if (transport_ == nullptr) return;
  std::set<NodeId> wanted;
  for (const Contact& contact : keep.peers) wanted.insert(contact.node);
  for (const NodeId& node : wanted) {
    if (!kept_.contains(node)) transport_->keep(node);
  }
  for (const NodeId& node : kept_) {
    if (!wanted.contains(node)) transport_->unkeep(node);
  }
  kept_ = std::move(wanted);
}

void RealWorld::act(SignOffer& sign) {
  Bytes payload = encode(sign.offer);
  Signature signature = parts_.key.sign(kOfferSignatureContext, payload);
  auto offer = make_signed_offer(std::move(payload), signature);
  CHECK_MSG(offer.has_value(), offer ? "" : offer.error().message);
  ports_.post(OfferSigned{*offer});
}

void RealWorld::act(CheckOffers& check) {
  boost::asio::post(ports_.pool, [this, offers = std::move(check.offers)] {
    OffersChecked checked;
    for (const OfferRef& offer : offers) {
      if (verify(offer->offer.contact.node, kOfferSignatureContext, offer->payload, offer->signature)) {
        checked.offers.push_back(offer);
      }
    }
    boost::asio::post(ports_.loop, [this, checked = std::move(checked)]() mutable { ports_.post(std::move(checked)); });
  });
}

void RealWorld::act(Log& log) {
  switch (log.level) {
    case Log::Level::debug: return ports_.log->debug("{}", log.text);
    case Log::Level::info: return ports_.log->info("{}", log.text);
    case Log::Level::warning: return ports_.log->warn("{}", log.text);
  }
}

void RealWorld::commit(std::vector<JournalChange> changes) {
  std::vector<Journal::Change> rows;
  rows.reserve(changes.size());
  for (JournalChange& change : changes) rows.push_back({change.kind, std::move(change.key), std::move(change.value)});
  // The loop by value: when the agent goes, the journal answers after this world has gone, and nobody listens.
  parts_.journal->submit(std::move(rows), [this, loop = ports_.loop](Status status) {
    boost::asio::post(loop, [this, status = std::move(status)] { parts_.on_committed(status); });
  });
}

Result<std::vector<Record>> RealWorld::load() {
  // Rare (a start, or a failed commit), and nothing may happen meanwhile: so the loop waits for the journal's thread.
  std::promise<Result<std::vector<Journal::Row>>> promise;
  parts_.journal->reload([&](Result<std::vector<Journal::Row>> rows) { promise.set_value(std::move(rows)); });
  TRY(std::vector<Journal::Row> rows, promise.get_future().get());
  TRY(std::vector<Record> records, decode_rows(rows));
  remember_work(*parts_.runs, records);
  return records;
}

}  // namespace abacus
