// kill -9 at every point of a conversation, random schedules with loss, repetition, reordering and crashes, and what
// must hold throughout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "core/selling/test_world.h"

namespace abacus::selling_test {
namespace {

using ::testing::SizeIs;

/// What of a seller must survive a restart: leases, room, and the states of attempts that are more than queued.
Bytes memory_of(const World& world) {
  SellingView view = world.selling->view(world.now);
  view.earned = {};
  Bytes bytes = encode(view.leases);
  encode_to(bytes, view.free);
  return bytes;
}

/// What may never happen.
void check(const World& world) {
  std::uint64_t held = 0;
  for (const SoldLeaseView& lease : world.selling->view(world.now).leases) {
    if (!lease.closed) held += std::uint64_t{lease.bundle.cpu_milli} * lease.slots;
    ASSERT_LE(lease.running, lease.slots);
    auto executed = world.executor.find(lease.lease);
    if (executed == world.executor.end()) continue;
    auto alive =
        std::count_if(executed->second.begin(), executed->second.end(), [](const auto& p) { return !p.second.end; });
    ASSERT_LE(alive, lease.slots) << "more processes than slots";
  }
  ASSERT_LE(held, world.node.cpu_milli) << "sold twice";
  ASSERT_EQ(world.selling->free().cpu_milli, world.node.cpu_milli - held);
  for (const auto& [a, times] : world.launches) ASSERT_EQ(times, 1) << a.to_string() << " was launched again";
}

/// The records of settled leases say what their spans say.
void check_money(const World& world) {
  for (const SoldLeaseRecord& lease : world.records<SoldLeaseRecord>()) {
    if (!lease.receipt) continue;
    Money owed = lease.receipt->fees;
    for (std::size_t i = 0; i < lease.spans.size(); ++i) {
      WallTime end = i + 1 < lease.spans.size() ? lease.spans[i + 1].from : lease.receipt->closed_at;
      owed += cost_of(lease.spans[i].price, lease.slots, end - lease.spans[i].from);
    }
    ASSERT_EQ(owed, lease.receipt->owed);
    ASSERT_EQ(lease.receipt->fees, lease.fee * lease.receipt->tasks_ended);
  }
}

/// Reliable again, and everything acknowledged: nothing may be left but receipts.
void heal(World& world, const std::vector<Contact>& buyers) {
  world.commit_at_once = true;
  world.commit();
  for (int round = 0; round < 400; ++round) {
    for (auto& [lease, a] : world.unfinished()) {
      if (world.executor.contains(lease) && world.executor[lease].contains(a)) world.finish(lease, a);
    }
    for (const Done& done : world.sent<Done>()) {
      for (const Contact& buyer : buyers) world.say(buyer, DoneAck{done.lease, {done.attempt}});
    }
    for (const Receipt& receipt : world.sent<Receipt>()) {
      for (const Contact& buyer : buyers) world.say(buyer, ReceiptAck{receipt.lease});
    }
    check(world);
    check_money(world);
    if (world.selling->view(world.now).leases.empty()) break;
    world.pass(seconds(20));
  }
  ASSERT_TRUE(world.selling->view(world.now).leases.empty()) << "a lease did not end";
  ASSERT_EQ(world.selling->free(), world.node);
  ASSERT_TRUE(world.executor.empty());
  ASSERT_THAT(world.records<SoldLeaseRecord>(), SizeIs(0));
  ASSERT_THAT(world.records<RunRecord>(), SizeIs(0));
}

// ---- kill at every point --------------------------------------------------------------------------------------------

const LeaseId kLease = id<LeaseId>(5);

std::vector<std::function<void(World&)>> conversation() {
  Contact buyer = contact(1);
  Award a = award(5, 1, 2, {attempt(5, 0), attempt(5, 1), attempt(5, 2)});
  a.fee = micro_credits(3);
  auto start = [](World& w, std::uint32_t task) {
    if (w.executor.contains(kLease) && w.executor[kLease].contains(attempt(5, task))) w.start(kLease, attempt(5, task));
  };
  auto finish = [](World& w, std::uint32_t task) {
    if (w.executor.contains(kLease) && w.executor[kLease].contains(attempt(5, task)))
      w.finish(kLease, attempt(5, task));
  };
  return {
      [=](World& w) { w.say(buyer, rfq(2)); },
      [=](World& w) { w.say(buyer, a); },
      [=](World& w) { start(w, 0); },
      [=](World& w) { start(w, 1); },
      [=](World& w) { w.pass(seconds(4)); },
      [=](World& w) { finish(w, 0); },
      [=](World& w) {
        w.say(buyer, DoneAck{kLease, {attempt(5, 0)}});
      },
      [=](World& w) {
        w.say(buyer, Start{kLease, {attempt(5, 3), attempt(5, 4)}});
      },
      [=](World& w) {
        w.say(buyer, Renew{kLease, minutes(20)});
      },
      [=](World& w) {
        w.say(buyer, Interrupt{kLease, {attempt(5, 1), attempt(5, 4)}, seconds(1)});
      },
      [=](World& w) { finish(w, 1); },
      [=](World& w) {
        w.say(buyer, LeaseBeat{kLease, {attempt(5, 2), attempt(5, 3)}});
      },
      [=](World& w) { finish(w, 2); },
      [=](World& w) {
        w.say(buyer, DoneAck{kLease, {attempt(5, 1), attempt(5, 2)}});
      },
      [=](World& w) {
        w.say(buyer, Release{kLease, ReleaseReason::work_done});
      },
      [=](World& w) { finish(w, 3); },
      [=](World& w) { w.say(buyer, ReceiptAck{kLease}); },
  };
}

/// `durable`: the last commit before the crash covers the step before it; else it is `lag` steps old.
void crash_after(std::size_t step, std::size_t lag) {
  SCOPED_TRACE("crash after step " + std::to_string(step) + ", journal " + std::to_string(lag) + " steps behind");
  World world;
  world.adopt();
  auto steps = conversation();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    world.commit_at_once = i + lag <= step || i > step;
    steps[i](world);
    check(world);
    if (i != step) continue;
    Bytes before = memory_of(world);
    world.crash();
    if (lag == 0) {
      EXPECT_EQ(memory_of(world), before);
    }
    world.commit_at_once = true;
    world.commit();
    world.adopt();
    check(world);
  }
  heal(world, {contact(1)});
}

TEST(SellingCrash, AtEveryPointOfAConversation) {
  for (std::size_t step = 0; step < conversation().size(); ++step) {
    for (std::size_t lag : {0, 1, 2, 4}) {
      if (step >= lag) crash_after(step, lag);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(SellingCrash, AdoptedWorkGoesOnAndTheRestIsLost) {
  World world;
  world.say(contact(1), award(5, 1, 3, {attempt(5, 0), attempt(5, 1), attempt(5, 2), attempt(5, 3)}));
  for (std::uint32_t task : {0, 1, 2}) world.start(kLease, attempt(5, task));
  TaskEnd end;
  end.exit_code = 4;
  end.started_at = world.now.wall;
  end.ended_at = world.now.wall + seconds(9);
  world.executor[kLease][attempt(5, 1)].end = end;
  world.executor[kLease].erase(attempt(5, 2));
  world.outbox.clear();
  world.crash();
  world.say(contact(1), Start{kLease, {attempt(5, 7)}});
  EXPECT_FALSE(world.launches.contains(attempt(5, 7))) << "nothing starts before the executor has spoken";
  world.executor[kLease][attempt(5, 9)] = {};  // Unknown to the journal.
  world.executor[id<LeaseId>(77)];
  world.adopt();
  auto dones = world.sent<Done>();
  ASSERT_THAT(dones, SizeIs(2));
  EXPECT_EQ(dones[0].attempt, attempt(5, 1));
  EXPECT_EQ(dones[0].end.exit_code, 4);
  EXPECT_EQ(dones[1].attempt, attempt(5, 2));
  EXPECT_EQ(dones[1].end.kind, EndKind::lost);
  EXPECT_TRUE(world.launches.contains(attempt(5, 7)));
  EXPECT_FALSE(world.executor.contains(id<LeaseId>(77)));
  EXPECT_FALSE(world.executor[kLease].contains(attempt(5, 9)));
  world.say(contact(1), LeaseBeat{kLease, {attempt(5, 0), attempt(5, 3)}});
  auto report = world.sent<LeaseReport>().at(0);
  EXPECT_EQ(report.attempts[0].state, AttemptState::running);
  EXPECT_EQ(report.attempts[1].state, AttemptState::unknown) << "it was only queued";
  world.finish(kLease, attempt(5, 0));
  EXPECT_THAT(world.sent<Done>(), SizeIs(1));
}

TEST(SellingCrash, ALongAbsenceIsNotCharged) {
  World world;
  world.say(contact(1), award(5, 1, 1, {attempt(5, 0)}));
  world.start(kLease, attempt(5, 0));
  world.now.wall = world.now.wall + hours(48);
  TaskEnd killed;
  killed.kind = EndKind::signalled;
  killed.started_at = world.now.wall - hours(48);
  killed.ended_at = world.now.wall - hours(47);
  world.executor[kLease][attempt(5, 0)].end = killed;
  world.crash();
  world.adopt();
  EXPECT_EQ(world.sent<Done>().at(0).end.kind, EndKind::interrupted) << "its shim ended it, because the lease was over";
  world.pass(seconds(2));
  auto receipts = world.sent<Receipt>();
  ASSERT_FALSE(receipts.empty());
  EXPECT_EQ(receipts[0].reserved, minutes(20));
}

TEST(SellingCrash, DevicesStayWithTheirAttempts) {
  World world({8'000, 0, 0, {{"gpu", "a", 3, 0, false}}});
  world.say(contact(1), award(5, 1, 3, {attempt(5, 0), attempt(5, 1)}, {1'000, 0, 0, {{"gpu", "", 1}}}));
  std::vector<std::uint32_t> first = world.executor[kLease][attempt(5, 0)].launch.devices;
  world.crash();
  world.adopt();
  EXPECT_EQ(world.selling->free().devices[0].count, 0u);
  world.say(contact(1), Start{kLease, {attempt(5, 2), attempt(5, 3)}});
  std::set<std::uint32_t> used;
  for (const auto& [a, process] : world.executor[kLease])
    used.insert(process.launch.devices.begin(), process.launch.devices.end());
  EXPECT_THAT(used, SizeIs(3));
  world.finish(kLease, attempt(5, 0));
  EXPECT_EQ(world.executor[kLease][attempt(5, 3)].launch.devices, first);
}

TEST(SellingCrash, ARunWithoutItsLeaseIsForgotten) {
  World world;
  world.say(contact(1), award(5, 1, 1, {attempt(5, 0)}));
  std::erase_if(world.journal, [](const auto& row) { return row.first.first == kRecordKind<SoldLeaseRecord>; });
  world.crash();
  world.adopt();
  EXPECT_THAT(world.records<RunRecord>(), SizeIs(0));
  EXPECT_TRUE(world.executor.empty());
}

// ---- random schedules -----------------------------------------------------------------------------------------------

/// Buyers that talk at random over a network that loses, repeats and reorders.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : prng_(seed) {
    world.adopt();
    if (prng_.chance(1, 2)) inputs_ = id<Digest>(3);
  }

  void step() {
    switch (prng_.below(16)) {
      case 0:
      case 1:
      case 2: return speak();
      case 3:
      case 4:
      case 5:
      case 6:
      case 7: return deliver();
      case 8:
      case 9: return answer();
      case 10:
      case 11:
      case 12: return execute();
      case 13: return world.pass(Duration{prng_.between(0, prng_.chance(1, 8) ? minutes(8).ns : seconds(5).ns)});
      case 14: return world.commit();
      default:
        if (prng_.chance(1, 3)) crash();
    }
  }

  World world{{6'000, 0, 0, {{"gpu", "a", 4, 0, false}}}};
  std::vector<Contact> buyers{contact(1), contact(2)};

 private:
  using Letter = std::function<void()>;

  LeaseId a_lease() { return id<LeaseId>(static_cast<std::uint8_t>(1 + prng_.below(leases_ + 1))); }
  Contact buyer_of(const LeaseId& lease) const { return buyers[lease.bytes[0] % 2]; }
  AttemptId an_attempt(const LeaseId& lease) {
    return attempt(lease.bytes[0], static_cast<std::uint32_t>(prng_.below(6)), 1 + static_cast<std::uint32_t>(epoch_));
  }
  std::vector<AttemptId> attempts(const LeaseId& lease) {
    std::vector<AttemptId> some;
    for (std::uint64_t i = prng_.below(4); i > 0; --i) some.push_back(an_attempt(lease));
    return some;
  }

  template <class M>
  void post(const Contact& from, M message) {
    if (prng_.chance(1, 6)) return;
    Letter letter = [this, from, message] { world.say(from, message); };
    for (int copies = prng_.chance(1, 6) ? 2 : 1; copies > 0; --copies) letters_.push_back(letter);
  }

  Renew a_renewal(const LeaseId& lease) {
    Renew renew{lease, minutes(prng_.between(1, 20)), {}, static_cast<std::uint32_t>(prng_.below(4))};
    if (prng_.chance(3, 4)) renew.price = Price{prng_.between(1, 20'000)};
    return renew;
  }
  void speak() {
    LeaseId lease = a_lease();
    Contact from = prng_.chance(1, 20) ? contact(66) : buyer_of(lease);
    switch (prng_.below(8)) {
      case 0: return post(from, rfq(1 + static_cast<std::uint32_t>(prng_.below(9))));
      case 1: return post_award(lease, from);
      case 2:
      case 3: return post(from, Start{lease, attempts(lease)});
      case 4: return post(from, LeaseBeat{lease, attempts(lease)});
      case 5: return post(from, Interrupt{lease, attempts(lease), seconds(1)});
      case 6: return post(from, a_renewal(lease));
      default:
        if (prng_.chance(1, 3)) post(from, Release{lease, ReleaseReason::work_done});
    }
  }

  void post_award(const LeaseId& lease, const Contact& from) {
    Bundle bundle = cpus(1 + static_cast<std::uint32_t>(prng_.below(2)));
    if (prng_.chance(1, 2)) bundle.devices.push_back({"gpu", "", 1});
    Award a = award(lease.bytes[0], 0, 1 + static_cast<std::uint32_t>(prng_.below(3)), attempts(lease), bundle);
    a.buyer = from;
    a.fee = micro_credits(5);
    a.work.input = inputs_;
    a.price = Price{prng_.between(1'000'000'000, 2'000'000'000)};
    if (leases_ < 40) ++leases_;
    post(from, a);
  }

  void deliver() {
    if (letters_.empty()) return;
    std::size_t which = prng_.below(letters_.size());
    Letter letter = std::move(letters_[which]);
    letters_.erase(letters_.begin() + static_cast<std::ptrdiff_t>(which));
    letter();
  }

  void answer() {
    for (const Done& done : world.sent<Done>()) {
      if (prng_.chance(2, 3)) post(buyer_of(done.lease), DoneAck{done.lease, {done.attempt}});
    }
    for (const Receipt& receipt : world.sent<Receipt>()) {
      if (prng_.chance(1, 2)) post(buyer_of(receipt.lease), ReceiptAck{receipt.lease});
    }
    world.outbox.clear();
  }

  void execute() {
    if (!world.stagings.empty() && prng_.chance(1, 2)) {
      auto [lease, a] = world.stagings.front();
      world.stagings.erase(world.stagings.begin());
      return world.tell(InputsStaged{lease, a, prng_.chance(1, 10) ? "gone" : ""});
    }
    auto alive = world.unfinished();
    if (alive.empty()) return;
    auto [lease, a] = alive[prng_.below(alive.size())];
    if (!world.executor[lease][a].started && prng_.chance(3, 4)) return world.start(lease, a);
    if (prng_.chance(1, 40)) return world.break_lease(lease);
    world.finish(lease, a, static_cast<int>(prng_.below(2)));
  }

  void crash() {
    world.commit_at_once = prng_.chance(1, 2);
    letters_.clear();  // Connections break, and buyers number later attempts afresh.
    ++epoch_;
    bool durable = world.uncommitted.empty();
    Bytes before = memory_of(world);
    world.crash();
    if (durable) {
      ASSERT_EQ(memory_of(world), before);
    }
    world.stagings.clear();
    world.adopt();
  }

  Prng prng_;
  Digest inputs_;
  std::vector<Letter> letters_;
  std::uint64_t leases_ = 0;
  std::uint64_t epoch_ = 0;
};

RC_GTEST_PROP(SellingProperty, HoldsUnderLossRepetitionReorderingAndCrashes, ()) {
  Chaos chaos(*rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>()));
  for (int i = 0; i < 400; ++i) {
    chaos.step();
    check(chaos.world);
    check_money(chaos.world);
    RC_ASSERT(!testing::Test::HasFatalFailure());
  }
  chaos.world.commit();
  chaos.world.adopt();
  heal(chaos.world, {contact(1), contact(2), contact(66)});
  RC_ASSERT(!testing::Test::HasFatalFailure());
}

}  // namespace
}  // namespace abacus::selling_test
