// The asking side of runtime/net/bulk.h.
#include <unordered_map>

#include "runtime/net/bulk.h"
#include "runtime/net/bulk_link.h"
#include "runtime/net/node_id_hash.h"

namespace abacus {

namespace {

constexpr std::size_t kMaxLinks = 64;

}  // namespace

class BulkPool : public std::enable_shared_from_this<BulkPool> {
 public:
  explicit BulkPool(std::shared_ptr<NetContext> context) : context_(std::move(context)) {}

  /// The open link to this peer, or a new one. Errors: `exhausted`.
  Result<std::shared_ptr<BulkLink>> link(const NodeId& peer, const Endpoint& at) {
    if (stopped_) return fail(ErrorCode::unavailable, "this agent stops");
    if (auto found = links_.find(peer); found != links_.end()) return found->second;
    if (!at.known()) return fail(ErrorCode::unavailable, "no endpoint of node {} is known", peer.short_string());
    if (links_.size() >= kMaxLinks && !close_one()) {
      return fail(ErrorCode::exhausted, "all {} bulk connections are busy", kMaxLinks);
    }
    auto forget = [weak = weak_from_this()](BulkLink& ended) {
      if (auto self = weak.lock()) self->links_.erase(ended.peer());
    };
    auto fresh = std::make_shared<BulkLink>(context_, peer, at, std::move(forget));
    links_[peer] = fresh;
    fresh->start();
    return fresh;
  }

  void stop() {
    stopped_ = true;
    auto links = std::exchange(links_, {});
    for (auto& [peer, link] : links) link->close({ErrorCode::unavailable, "this agent stops"});
  }

 private:
  bool close_one() {
    std::shared_ptr<BulkLink> oldest;
    for (auto& [peer, link] : links_) {
      if (link->resting() && (!oldest || link->last_used() < oldest->last_used())) oldest = link;
    }
    if (oldest) oldest->close({ErrorCode::unavailable, "made room for another peer"});
    return oldest != nullptr;
  }

  std::shared_ptr<NetContext> context_;
  std::unordered_map<NodeId, std::shared_ptr<BulkLink>, NodeIdHash> links_;
  bool stopped_ = false;
};

BulkClient::BulkClient(Transport& transport) : pool_(std::make_shared<BulkPool>(transport.context())) {}

BulkClient::~BulkClient() { pool_->stop(); }

boost::asio::awaitable<Result<Bytes>> BulkClient::request(NodeId peer, Endpoint at, Bytes request, Duration timeout) {
  if (request.size() > kMaxBulkFrameBytes) {
    co_return fail(ErrorCode::invalid, "a bulk request of {} bytes is above the limit of {}", request.size(),
                   kMaxBulkFrameBytes);
  }
  auto link = pool_->link(peer, at);
  if (!link) co_return fail(link.error());
  std::shared_ptr<BulkLink> held = *link;
  co_return co_await held->request(std::move(request), timeout);
}

}  // namespace abacus
