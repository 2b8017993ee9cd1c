// A small market for tests of the buying side: scripted sellers, a network with faults, a journal that can be cut off.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/buying/buying.h"

namespace abacus::test {

/// What a scripted seller is like.
struct SellerPlan {
  std::string region = "north";
  std::uint32_t slots = 4;
  Price price{1'000};
  Money fee{};
  Duration run = milliseconds(10);  ///< Of each task.
  bool silent = false;              ///< Answers nothing at all.
  bool declines = false;
  std::uint32_t refuse_next = 0;      ///< Awards.
  std::uint32_t lose_next = 0;        ///< Attempts end as lost.
  std::uint32_t interrupt_next = 0;   ///< Attempts end as interrupted by the seller.
  bool nonsense = false;              ///< Quotes impossible numbers.
  bool outputs = false;               ///< Ends have outputs.
  std::int64_t overcharge = 1;        ///< Factor on receipts.
  std::uint32_t accept_fewer_by = 0;  ///< Slots.
  std::optional<Price> renewal;       ///< The price of a renewed lease, if it is another one.
  Price renewal_step{};               ///< Added to that with every offer.
  std::uint32_t renewed_lost = 0;     ///< Answers to renewals.
  bool older = false;                 ///< Renews at its own price, whatever was named, and counts no rounds.
  std::uint32_t cpu_milli = 64'000;   ///< Of the whole node, in its offer.
};

struct Faults {
  std::uint64_t loss_percent = 0;
  std::uint64_t repeat_percent = 0;
  Duration latency = microseconds(500);
  Duration jitter;  ///< Reorders.
};

class Market : public Peers {
 public:
  explicit Market(std::uint64_t seed, std::vector<SellerPlan> plans, BuyingConfig config = {});

  // Peers
  std::span<const OfferRef> offers(WallTime) const override { return offers_; }
  OfferRef find(const NodeId& node) const override;
  bool is_suspect(const NodeId& node) const override { return suspects_.contains(node); }
  Duration round_trip(const NodeId& node) const override;

  /// Node 0 is the buyer's own.
  static NodeId node(std::size_t i);

  JobId submit(JobSpec spec);
  CommandAnswer command(const std::function<void(RequestId, Effects&)>& give);
  void cancel(const JobId& job, std::optional<std::uint32_t> index = std::nullopt);
  PlanResult plan(JobSpec spec);

  /// Runs until nothing is left to do, or the time is up.
  void run_for(Duration time);
  /// Runs until the job has ended; false if that takes longer.
  bool run_until_ended(const JobId& job, Duration limit = minutes(30));
  /// After everything: no lease is left, and the next 90 minutes wake nobody but the hourly retention.
  bool quiet();

  /// kill -9: what was not committed is gone, on this side.
  void crash_buyer();
  /// Seller i forgets everything and says nothing until `back`.
  void stop_seller(std::size_t i, bool forget);
  void start_seller(std::size_t i);
  void suspect(std::size_t i, bool on);

  /// Hands a message to the buyer at once, as if from node i.
  void inject(std::size_t i, Message message);

  Now now() const { return {now_, {now_.ns + kWallStart}}; }
  std::uint32_t sent(const char* name) const { return sent_.contains(name) ? sent_.at(name) : 0; }

  static constexpr std::int64_t kWallStart = 1'700'000'000'000'000'000;

  struct Attempt {
    AttemptState state = AttemptState::staging;
    Done done;
  };
  struct SoldLease {
    Award award;
    std::uint32_t slots = 0;
    WallTime opened_at;
    WallTime until;
    Price price;
    Money owed_before;
    WallTime price_since;
    std::uint32_t round = 0;
    std::map<AttemptId, Attempt> attempts;
    std::set<AttemptId> past;
    std::optional<Receipt> receipt;
  };
  struct Seller {
    SellerPlan plan;
    Contact contact;
    bool stopped = false;
    std::uint32_t taken = 0;
    std::map<LeaseId, SoldLease> leases;
    std::set<LeaseId> refused;
    std::vector<Rfq> declined;
    std::uint64_t generation = 0;
  };

  std::vector<Seller> sellers;
  Faults faults;
  Duration commit_time = microseconds(200);
  std::unique_ptr<Buying> buying;
  std::function<std::string(const FetchOutputs&)> fetch_problem;  ///< Empty: fetched.

  // What was seen, checked as it happens.
  std::map<TaskId, std::uint32_t> ends_told;
  std::map<AttemptId, std::set<LeaseId>> leases_of_attempt;
  std::map<AttemptId, std::uint32_t> launches;
  std::uint32_t jobs_ended_told = 0;
  std::vector<std::string> warnings;
  std::vector<std::string> violations;
  std::map<std::pair<std::uint16_t, Bytes>, Bytes> journal;

 private:
  struct Event {
    MonoTime at;
    std::uint64_t order = 0;
    std::function<void()> act;
    bool operator<(const Event& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
  };

  void later(Duration in, std::function<void()> act);
  void handle(const std::function<void(Effects&)>& act);
  void carry_out(Effect& effect);
  void deliver(std::size_t i, Message message);
  void reply(std::size_t i, Message message);
  void at_seller(std::size_t i, const Message& message);
  void step();
  void check_budgets();

  void on(Seller& s, std::size_t i, const Rfq& rfq);
  void on(Seller& s, std::size_t i, const Award& award);
  void on(Seller& s, std::size_t i, const Start& start);
  void on(Seller& s, std::size_t i, const DoneAck& ack);
  void on(Seller& s, std::size_t i, const Interrupt& interrupt);
  void on(Seller& s, std::size_t i, const LeaseBeat& beat);
  void on(Seller& s, std::size_t i, const Renew& renew);
  void on(Seller& s, std::size_t i, const Release& release);
  void on(Seller& s, std::size_t i, const ReceiptAck& ack);
  void advance(Seller& s, std::size_t i, const LeaseId& id);
  void end_attempt(Seller& s, std::size_t i, const LeaseId& id, const AttemptId& attempt, EndKind kind);
  void send_done(std::size_t i, const LeaseId& id, const AttemptId& attempt, Duration again);
  Quote quote_of(const Seller& s, const Rfq& rfq) const;

  BuyingConfig config_;
  Prng prng_;
  std::vector<OfferRef> offers_;
  std::set<NodeId> suspects_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  MonoTime now_{1'000'000'000};
  std::uint64_t epoch_ = 0;
  std::uint64_t wakes_ = 0;
  std::map<std::string, std::uint32_t> sent_;
  std::map<RequestId, CommandAnswer> answers_;
  RequestId requests_ = 0;
};

}  // namespace abacus::test
