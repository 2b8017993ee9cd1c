// What a node remembers across kill -9: keyed state, one record a thing. Restoring is reading all records in key order.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/codec.h"

namespace abacus {

/// The node itself. The epoch counts its starts, so that sequence numbers and incarnations never repeat.
struct NodeRecord {
  std::uint64_t epoch = 0;
  std::uint32_t multiplier_permille = 1000;  ///< Of the price, to go on from.
  bool draining = false;
};
BOOST_DESCRIBE_STRUCT(NodeRecord, (), (epoch, multiplier_permille, draining))

/// Custodian: a job that was acknowledged (or is about to be).
struct JobRecord {
  JobId job;
  JobSpec spec;
  WallTime submitted_at;
  bool cancelled = false;
  Money spent;  ///< By receipts of closed leases.
  std::optional<WallTime> ended_at;
  std::optional<TaskEnd> rest;  ///< The end of every task that has no record of its own (cancelled, unplaceable).
};
BOOST_DESCRIBE_STRUCT(JobRecord, (), (job, spec, submitted_at, cancelled, spent, ended_at, rest))

/// Custodian: a task that was ever placed or has ended. A task without a record waits for its first placement.
struct TaskRecord {
  TaskId task;
  std::uint32_t attempt = 0;     ///< The latest; 0: none yet.
  std::optional<LeaseId> lease;  ///< Where the latest attempt is; none: it waits, or has ended.
  NodeId seller;                 ///< Of the latest attempt.
  std::string region;
  std::uint32_t rounds = 0;  ///< Of negotiation for the latest placement.
  Price price;
  WallTime placed_at;
  std::optional<TaskEnd> end;
  bool cancelled = false;  ///< By its user, while it was placed: it ends once its seller says so.
};
BOOST_DESCRIBE_STRUCT(TaskRecord, (), (task, attempt, lease, seller, region, rounds, price, placed_at, end, cancelled))

/// Buyer: a lease it awarded.
struct BoughtLeaseRecord {
  LeaseId lease;
  Contact seller;
  std::string region;
  JobId job;
  std::uint32_t slots = 0;
  Price price;
  Money fee;
  WallTime opened_at;
  WallTime until;
  bool released = false;            ///< Given up; waits for the receipt.
  WallTime price_since;             ///< From when on the price holds; a renewal may change it.
  Money owed_before;                ///< For the time before that, without fees.
  std::uint32_t renewal_round = 0;  ///< Of the latest question whether it may be kept.
  WallTime renewal_until;           ///< Its end if that was granted, heard or not.
};
BOOST_DESCRIBE_STRUCT(BoughtLeaseRecord, (),
                      (lease, seller, region, job, slots, price, fee, opened_at, until, released, price_since,
                       owed_before, renewal_round, renewal_until))

/// A time for which a lease had one price.
struct MeteredSpan {
  WallTime from;
  Price price;
};
BOOST_DESCRIBE_STRUCT(MeteredSpan, (), (from, price))

/// Seller: a lease it accepted.
struct SoldLeaseRecord {
  LeaseId lease;
  Contact buyer;
  OrgId buyer_organisation;
  JobId job;
  Bundle bundle;
  std::uint32_t slots = 0;
  std::vector<MeteredSpan> spans;  ///< Oldest first, never empty.
  Money fee;
  WallTime opened_at;
  WallTime until;
  WorkSpec work;
  std::uint64_t input_bytes = 0;
  std::vector<std::uint32_t> devices;  ///< Indices of the devices held, all slots together.
  std::uint32_t tasks_ended = 0;
  Duration staging;
  Duration running;
  std::optional<Receipt> receipt;   ///< Closed; kept until the buyer has acknowledged the receipt.
  std::uint32_t renewal_round = 0;  ///< The latest that was granted.
};
BOOST_DESCRIBE_STRUCT(SoldLeaseRecord, (),
                      (lease, buyer, buyer_organisation, job, bundle, slots, spans, fee, opened_at, until, work,
                       input_bytes, devices, tasks_ended, staging, running, receipt, renewal_round))

/// Seller: an attempt that it intends to start, has started, or that has ended and is not acknowledged yet.
struct RunRecord {
  AttemptId attempt;
  LeaseId lease;
  WallTime intended_at;
  std::optional<WallTime> started_at;
  std::optional<TaskEnd> end;
  std::vector<std::uint32_t> devices;
};
BOOST_DESCRIBE_STRUCT(RunRecord, (), (attempt, lease, intended_at, started_at, end, devices))

/// Both sides: a closed lease, for accounts. Kept for ever.
struct ReceiptRecord {
  Receipt receipt;
  NodeId seller;
  NodeId buyer;
};
BOOST_DESCRIBE_STRUCT(ReceiptRecord, (), (receipt, seller, buyer))

Status validate(const BoughtLeaseRecord& lease);
Status validate(const SoldLeaseRecord& lease);
Status validate(const RunRecord& run);

/// The order is the format of the journal: append only.
using Record =
    std::variant<NodeRecord, JobRecord, TaskRecord, BoughtLeaseRecord, SoldLeaseRecord, RunRecord, ReceiptRecord>;

/// What names a record among those of its kind.
inline std::uint8_t key_of(const NodeRecord&) { return 0; }
inline const JobId& key_of(const JobRecord& record) { return record.job; }
inline const TaskId& key_of(const TaskRecord& record) { return record.task; }
inline const LeaseId& key_of(const BoughtLeaseRecord& record) { return record.lease; }
inline const LeaseId& key_of(const SoldLeaseRecord& record) { return record.lease; }
inline const AttemptId& key_of(const RunRecord& record) { return record.attempt; }
inline const LeaseId& key_of(const ReceiptRecord& record) { return record.receipt.lease; }

/// One row of the journal as the store sees it: put (with a value) or erase (without).
struct JournalChange {
  std::uint16_t kind = 0;
  Bytes key;
  std::optional<Bytes> value;
};
BOOST_DESCRIBE_STRUCT(JournalChange, (), (kind, key, value))

template <class R>
inline constexpr std::uint16_t kRecordKind = static_cast<std::uint16_t>(boost::mp11::mp_find<Record, R>::value);

template <class R>
JournalChange put_change(const R& record) {
  return {kRecordKind<R>, encode(key_of(record)), encode(record)};
}

template <class R, class Key>
JournalChange erase_change(const Key& key) {
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(key_of(std::declval<const R&>()))>, Key>);
  return {kRecordKind<R>, encode(key), std::nullopt};
}

/// "JobRecord", "RunRecord", ...; "unknown" for a kind that this version does not know.
const char* name_of_record(std::uint16_t kind);

/// A row back to a record. Errors: `unsupported` for a kind this version does not know, `corrupt` or `invalid`.
Result<Record> decode_record(std::uint16_t kind, BytesView value);

}  // namespace abacus
