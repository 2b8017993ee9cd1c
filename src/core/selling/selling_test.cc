// Conversations with a seller: trade, tasks through slots, the ends of leases, refusals, strangers.
#include "core/selling/selling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/selling/test_world.h"

namespace abacus::selling_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Contact kBuyer = contact(1);
const LeaseId kLease = id<LeaseId>(5);

Award first_award(std::uint32_t slots, std::uint32_t tasks) {
  std::vector<AttemptId> attempts;
  for (std::uint32_t i = 0; i < tasks; ++i) attempts.push_back(attempt(5, i));
  return award(5, 1, slots, attempts);
}

// ---- quotes ---------------------------------------------------------------------------------------------------------

TEST(SellingQuotes, LotsForWhatFits) {
  World world;
  world.say(kBuyer, rfq(100));
  auto quotes = world.sent<Quote>();
  ASSERT_THAT(quotes, SizeIs(1));
  std::uint32_t slots = 0;
  for (const Lot& lot : quotes[0].lots) slots += lot.count;
  EXPECT_EQ(slots, 8u);
  EXPECT_EQ(quotes[0].valid_for, seconds(1));
  EXPECT_NE(quotes[0].quote, 0u);
  EXPECT_EQ(quotes[0].region, "here");
  EXPECT_EQ(world.selling->counters().quotes_sent, 1u);
}

TEST(SellingQuotes, DeclinesSayWhy) {
  World world;
  auto reason = [&](Rfq question) {
    world.say(kBuyer, question);
    auto declines = world.sent<Decline>();
    return declines.empty() ? std::nullopt : std::optional(declines[0].detail);
  };
  auto never = reason(rfq(1, cpus(9)));
  ASSERT_TRUE(never);
  EXPECT_EQ(never->reason, DeclineReason::never_fits);
  EXPECT_THAT(never->shortfalls, ElementsAre(Shortfall{"cpu_milli", 9'000, 8'000}));
  Rfq cheap = rfq(1);
  cheap.price_limit = Price{1};
  auto low = reason(cheap);
  ASSERT_TRUE(low);
  EXPECT_EQ(low->reason, DeclineReason::price_too_low);
  ASSERT_TRUE(low->lowest_price);
  cheap.price_limit = low->lowest_price;
  EXPECT_FALSE(reason(cheap)) << "what it would take is enough";
  Rfq lasting = rfq(1);
  lasting.lease_time = hours(25);
  EXPECT_EQ(reason(lasting)->reason, DeclineReason::lease_too_long);
  world.tell(Drain{3, true});
  EXPECT_EQ(reason(rfq(1))->reason, DeclineReason::draining);
  EXPECT_THAT(world.answers, SizeIs(1));
  EXPECT_TRUE(world.selling->draining());
}

TEST(SellingQuotes, NoRoomNamesReferralsAndNumbers) {
  World world;
  world.say(kBuyer, award(5, 1, 8));
  world.referrals = {std::make_shared<SignedOffer>()};
  world.say(contact(2), rfq(1));
  auto declines = world.sent<Decline>();
  ASSERT_THAT(declines, SizeIs(1));
  EXPECT_EQ(declines[0].detail.reason, DeclineReason::no_room);
  EXPECT_EQ(declines[0].detail.nearest_count, 0u);
  EXPECT_THAT(declines[0].referrals, SizeIs(1));
}

TEST(SellingQuotes, OutstandingOnesCountWhereMessagesAreSlow) {
  SellingConfig slow;
  slow.round_trip = milliseconds(200);
  World world({8'000, 0, 0, {}}, slow);
  world.say(contact(1), rfq(6));
  world.say(contact(2), rfq(6));
  auto quotes = world.sent<Quote>();
  ASSERT_THAT(quotes, SizeIs(2));
  EXPECT_EQ(slots_of(quotes[1].lots), 2u);
  world.say(contact(1), rfq(6));
  EXPECT_EQ(slots_of(world.sent<Quote>().at(0).lots), 6u) << "a buyer does not compete with itself";
  world.pass(seconds(2));
  world.say(contact(2), rfq(6));
  EXPECT_EQ(slots_of(world.sent<Quote>().at(0).lots), 6u);
}

TEST(SellingQuotes, CallsBackTheOldestThatFits) {
  World world;
  world.say(kBuyer, award(5, 1, 8));
  world.say(contact(2), rfq(1, cpus(8), 21));
  world.say(contact(3), rfq(1, cpus(4), 31));
  Rfq plan = rfq(1, cpus(1), 41);
  plan.plan_only = true;
  world.say(contact(4), plan);
  world.outbox.clear();
  world.say(kBuyer, Release{kLease, ReleaseReason::work_done});
  ASSERT_THAT(world.sent<CallBack>(), SizeIs(1));
  // All of the room is promised to the first for a moment; then the next one is called.
  world.pass(milliseconds(500));
  EXPECT_THAT(world.sent<CallBack>(), IsEmpty());
  world.pass(seconds(1));
  auto later = world.sent<CallBack>();
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].quote.negotiation, 31u);
  world.pass(minutes(2));
  EXPECT_THAT(world.sent<CallBack>(), IsEmpty());
}

// ---- awards ---------------------------------------------------------------------------------------------------------

TEST(SellingAwards, AQuotedPriceIsFirmWhileItLasts) {
  World world;
  world.say(kBuyer, rfq(2));
  Quote quote = world.sent<Quote>().at(0);
  world.say(contact(2), award(6, 2, 5));  // The present price is higher now.
  world.sent<Accept>();
  Award first = first_award(2, 0);
  first.quote = quote.quote;
  first.price = lot_for(quote.lots, 2)->price;
  world.say(kBuyer, first);
  EXPECT_THAT(world.sent<Accept>(), SizeIs(1));
  Award again = first;
  again.lease = id<LeaseId>(7);
  again.slots = 1;
  world.say(kBuyer, again);
  auto refused = world.sent<Refuse>();
  ASSERT_THAT(refused, SizeIs(1)) << "a quote is good for one lease";
  EXPECT_EQ(refused[0].detail.reason, DeclineReason::quote_expired);
  ASSERT_TRUE(refused[0].fresh);
  again.quote = refused[0].fresh->quote;
  again.price = refused[0].fresh->lots[0].price;
  world.say(kBuyer, again);
  EXPECT_THAT(world.sent<Accept>(), SizeIs(1));
}

TEST(SellingAwards, ExpiredOrTooCheapIsRefused) {
  World world;
  world.say(kBuyer, rfq(1));
  Quote quote = world.sent<Quote>().at(0);
  Award late = first_award(1, 0);
  late.quote = quote.quote;
  late.price = Price{quote.lots[0].price.micro_per_s / 5};
  world.say(kBuyer, late);
  EXPECT_EQ(world.sent<Refuse>().at(0).detail.reason, DeclineReason::price_too_low);
  world.pass(seconds(2));
  world.say(kBuyer, late);
  EXPECT_EQ(world.sent<Refuse>().at(0).detail.reason, DeclineReason::quote_expired);
  late.quote = 0;
  late.price = quote.lots[0].price;
  world.say(kBuyer, late);
  EXPECT_THAT(world.sent<Accept>(), SizeIs(1)) << "the present price needs no quote";
}

TEST(SellingAwards, FewerSlotsThanAskedButNeverNone) {
  World world;
  world.say(contact(2), award(6, 2, 5));
  world.say(kBuyer, first_award(5, 0));
  auto accepts = world.sent<Accept>();
  ASSERT_THAT(accepts, SizeIs(2));
  EXPECT_EQ(accepts[1].slots, 3u);
  world.say(contact(3), award(7, 3, 1));
  auto refused = world.sent<Refuse>();
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].detail.reason, DeclineReason::no_room);
  world.say(kBuyer, Release{kLease, ReleaseReason::work_done});
  EXPECT_THAT(world.sent<CallBack>(), SizeIs(1)) << "a refused buyer waits too";
}

TEST(SellingAwards, RepeatsGetTheSameAnswer) {
  World world;
  world.say(kBuyer, first_award(2, 2));
  world.say(kBuyer, first_award(2, 2));
  auto accepts = world.sent<Accept>();
  ASSERT_THAT(accepts, SizeIs(2));
  EXPECT_EQ(accepts[0].slots, accepts[1].slots);
  EXPECT_EQ(world.selling->free().cpu_milli, 6'000u);
  EXPECT_EQ(world.launches.size(), 2u);
}

TEST(SellingAwards, NonsenseIsRefused) {
  World world;
  auto refused = [&](const Contact& from, const Award& a) {
    world.say(from, a);
    auto answers = world.sent<Refuse>();
    return answers.size() == 1 && answers[0].detail.reason == DeclineReason::bad_request;
  };
  EXPECT_TRUE(refused(contact(2), first_award(1, 0))) << "in another buyer's name";
  Award a = first_award(1, 0);
  a.lease_time = {};
  EXPECT_TRUE(refused(kBuyer, a));
  a = first_award(1, 0);
  a.fee = micro_credits(-1);
  EXPECT_TRUE(refused(kBuyer, a));
  a = first_award(0, 0);
  EXPECT_TRUE(refused(kBuyer, a));
  EXPECT_TRUE(world.journal.empty());
}

TEST(SellingAwards, DevicesAreNamedToEachAttempt) {
  World world({8'000, 0, 0, {{"gpu", "a", 4, 0, false}}});
  Bundle pair{1'000, 0, 0, {{"gpu", "", 2}}};
  world.say(kBuyer, award(5, 1, 2, {attempt(5, 0), attempt(5, 1)}, pair));
  EXPECT_THAT(world.executor[kLease][attempt(5, 0)].launch.devices, ElementsAre(0, 1));
  EXPECT_THAT(world.executor[kLease][attempt(5, 1)].launch.devices, ElementsAre(2, 3));
  world.finish(kLease, attempt(5, 0));
  world.say(kBuyer, Start{kLease, {attempt(5, 2)}});
  EXPECT_THAT(world.executor[kLease][attempt(5, 2)].launch.devices, ElementsAre(0, 1));
}

// ---- tasks ----------------------------------------------------------------------------------------------------------

TEST(SellingTasks, StreamThroughTheSlots) {
  World world;
  world.say(kBuyer, first_award(2, 3));
  EXPECT_EQ(world.launches.size(), 2u);
  world.start(kLease, attempt(5, 0));
  EXPECT_THAT(world.sent<Started>(), SizeIs(1));
  world.pass(seconds(3));
  world.finish(kLease, attempt(5, 0));
  EXPECT_EQ(world.launches.size(), 3u);
  auto dones = world.sent<Done>();
  ASSERT_THAT(dones, SizeIs(1));
  EXPECT_EQ(dones[0].attempt, attempt(5, 0));
  EXPECT_EQ(dones[0].running, seconds(3));
  world.say(kBuyer, DoneAck{kLease, {attempt(5, 0)}});
  EXPECT_FALSE(world.executor[kLease].contains(attempt(5, 0)));
  world.say(kBuyer, Start{kLease, {attempt(5, 0)}});
  EXPECT_EQ(world.launches[attempt(5, 0)], 1) << "a late repeat of its start";
  EXPECT_EQ(world.records<SoldLeaseRecord>().at(0).tasks_ended, 1u);
}

TEST(SellingTasks, InputsRunAheadByOneTaskASlot) {
  World world;
  Award a = first_award(2, 8);
  a.work.input = id<Digest>(1);
  world.say(kBuyer, a);
  EXPECT_THAT(world.stagings, SizeIs(4));
  EXPECT_TRUE(world.launches.empty());
  world.pass(seconds(2));
  for (auto& [lease, staged] : std::exchange(world.stagings, {})) world.tell(InputsStaged{lease, staged, ""});
  EXPECT_EQ(world.launches.size(), 2u);
  EXPECT_THAT(world.stagings, IsEmpty());
  world.start(kLease, attempt(5, 0));
  world.finish(kLease, attempt(5, 0));
  EXPECT_EQ(world.launches.size(), 3u);
  EXPECT_THAT(world.stagings, SizeIs(1));
  auto done = world.sent<Done>();
  EXPECT_EQ(done.at(0).staging, seconds(2));
  world.tell(InputsStaged{kLease, attempt(5, 4), "no such manifest"});
  done = world.sent<Done>();
  ASSERT_THAT(done, SizeIs(1));
  EXPECT_EQ(done[0].end.kind, EndKind::lost);
  EXPECT_NE(done[0].end.message.find("no such manifest"), std::string::npos);
  EXPECT_THAT(world.stagings, SizeIs(2)) << "the next one takes its place";
}

TEST(SellingTasks, NothingIsLaunchedOrReportedBeforeItIsDurable) {
  World world;
  world.commit_at_once = false;
  world.say(kBuyer, first_award(1, 1));
  EXPECT_THAT(world.sent<Accept>(), SizeIs(1));
  EXPECT_TRUE(world.launches.empty());
  world.commit();
  EXPECT_EQ(world.launches.size(), 1u);
  world.finish(kLease, attempt(5, 0));
  world.say(kBuyer, LeaseBeat{kLease, {attempt(5, 0)}});
  EXPECT_THAT(world.sent<Done>(), IsEmpty());
  world.commit();
  EXPECT_THAT(world.sent<Done>(), SizeIs(2));
}

TEST(SellingTasks, EndsAreRepeatedUntilAcknowledged) {
  World world;
  world.say(kBuyer, first_award(1, 1));
  world.finish(kLease, attempt(5, 0));
  EXPECT_THAT(world.sent<Done>(), SizeIs(1));
  world.pass(seconds(10));
  std::size_t repeats = world.sent<Done>().size();
  EXPECT_GE(repeats, 2u);
  EXPECT_LE(repeats, 6u);
  world.say(kBuyer, DoneAck{kLease, {attempt(5, 0)}});
  world.pass(seconds(20));
  EXPECT_THAT(world.sent<Done>(), IsEmpty());
}

TEST(SellingTasks, InterruptsByState) {
  World world;
  world.say(kBuyer, first_award(1, 2));
  world.start(kLease, attempt(5, 0));
  world.say(kBuyer, Interrupt{kLease, {attempt(5, 0), attempt(5, 1), attempt(5, 9)}, seconds(5)});
  auto dones = world.sent<Done>();
  ASSERT_THAT(dones, SizeIs(1));
  EXPECT_EQ(dones[0].attempt, attempt(5, 1));
  EXPECT_EQ(dones[0].end.kind, EndKind::cancelled);
  auto reports = world.sent<LeaseReport>();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].attempts.at(0).attempt, attempt(5, 9));
  EXPECT_EQ(reports[0].attempts.at(0).state, AttemptState::unknown);
  EXPECT_TRUE(world.executor[kLease][attempt(5, 0)].interrupted);
  world.finish(kLease, attempt(5, 0));
  EXPECT_EQ(world.sent<Done>().at(0).end.kind, EndKind::cancelled);
  world.say(kBuyer, Start{kLease, {attempt(5, 9)}});
  EXPECT_FALSE(world.launches.contains(attempt(5, 9))) << "its interruption came first";
}

TEST(SellingTasks, BeatsAreAnsweredWithStates) {
  World world;
  world.say(kBuyer, first_award(2, 3));
  world.start(kLease, attempt(5, 0));
  world.finish(kLease, attempt(5, 1));
  world.sent<Done>();
  world.say(kBuyer, LeaseBeat{kLease, {attempt(5, 0), attempt(5, 1), attempt(5, 2), attempt(5, 7)}});
  auto reports = world.sent<LeaseReport>();
  ASSERT_THAT(reports, SizeIs(1));
  std::vector<AttemptState> states;
  for (const AttemptReport& r : reports[0].attempts) states.push_back(r.state);
  EXPECT_THAT(states,
              ElementsAre(AttemptState::running, AttemptState::ended, AttemptState::staging, AttemptState::unknown));
  EXPECT_THAT(world.sent<Done>(), SizeIs(1));
}

TEST(SellingTasks, StrangersSeeNoLease) {
  World world;
  world.say(kBuyer, first_award(1, 1));
  world.start(kLease, attempt(5, 0));
  Contact stranger = contact(66);
  auto unknown = [&] {
    auto reports = world.sent<LeaseReport>();
    return reports.size() == 1 && !reports[0].known;
  };
  world.say(stranger, LeaseBeat{kLease, {attempt(5, 0)}});
  EXPECT_TRUE(unknown());
  world.say(stranger, Start{kLease, {attempt(5, 1)}});
  EXPECT_TRUE(unknown());
  world.say(stranger, Interrupt{kLease, {attempt(5, 0)}, {}});
  EXPECT_TRUE(unknown());
  world.say(stranger, Release{kLease, ReleaseReason::cancelled});
  EXPECT_TRUE(unknown());
  world.say(stranger, Renew{kLease, hours(1)});
  EXPECT_TRUE(unknown());
  world.say(stranger, DoneAck{kLease, {attempt(5, 0)}});
  world.say(stranger, ReceiptAck{kLease});
  EXPECT_FALSE(world.executor[kLease][attempt(5, 0)].interrupted);
  EXPECT_EQ(world.selling->free().cpu_milli, 7'000u);
}

TEST(SellingTasks, AttemptsOfOtherJobsOrLeasesAreNotTakenOn) {
  World world;
  world.say(kBuyer, first_award(1, 1));
  world.say(kBuyer, Start{kLease, {attempt(6, 0)}});
  EXPECT_EQ(world.sent<LeaseReport>().at(0).attempts.at(0).state, AttemptState::unknown);
  Award other = award(7, 2, 1, {attempt(5, 0)});
  other.job = id<JobId>(5);
  world.say(contact(2), other);
  EXPECT_EQ(world.launches[attempt(5, 0)], 1);
}

// ---- the ends of leases ---------------------------------------------------------------------------------------------

TEST(SellingEnds, ReleaseSettlesToTheMicroCredit) {
  World world;
  Award a = first_award(2, 1);
  a.fee = micro_credits(11);
  world.say(kBuyer, a);
  world.start(kLease, attempt(5, 0));
  world.pass(seconds(7));
  world.finish(kLease, attempt(5, 0));
  world.say(kBuyer, DoneAck{kLease, {attempt(5, 0)}});
  world.say(kBuyer, Release{kLease, ReleaseReason::work_done});
  auto receipts = world.sent<Receipt>();
  ASSERT_THAT(receipts, SizeIs(1));
  EXPECT_EQ(receipts[0].owed, cost_of(a.price, 2, seconds(7)) + micro_credits(11));
  EXPECT_EQ(receipts[0].fees, micro_credits(11));
  EXPECT_EQ(receipts[0].running, seconds(7));
  EXPECT_EQ(receipts[0].reserved, seconds(14));
  EXPECT_FALSE(world.executor.contains(kLease));
  EXPECT_THAT(world.sent<Release>(), IsEmpty()) << "the buyer knows";
  EXPECT_EQ(world.selling->free(), world.node);
  EXPECT_EQ(world.selling->view(world.now).earned, receipts[0].owed);
  EXPECT_THAT(world.selling->counterparties(), IsEmpty());
  world.pass(seconds(5));
  EXPECT_FALSE(world.sent<Receipt>().empty()) << "repeated";
  world.say(kBuyer, ReceiptAck{kLease});
  EXPECT_THAT(world.records<SoldLeaseRecord>(), IsEmpty());
  EXPECT_THAT(world.records<ReceiptRecord>(), SizeIs(1));
  world.say(kBuyer, Release{kLease, ReleaseReason::work_done});
  EXPECT_FALSE(world.sent<LeaseReport>().at(0).known);
  world.say(kBuyer, first_award(2, 1));
  EXPECT_THAT(world.sent<Refuse>(), SizeIs(1)) << "a late repeat of the award";
}

TEST(SellingEnds, ReleaseInterruptsWhatRuns) {
  World world;
  world.say(kBuyer, first_award(1, 2));
  world.start(kLease, attempt(5, 0));
  world.say(kBuyer, Release{kLease, ReleaseReason::cancelled});
  EXPECT_THAT(world.sent<Receipt>(), IsEmpty());
  EXPECT_TRUE(world.executor[kLease][attempt(5, 0)].interrupted);
  EXPECT_EQ(world.sent<Done>().at(0).attempt, attempt(5, 1));
  world.finish(kLease, attempt(5, 0));
  EXPECT_EQ(world.sent<Done>().at(0).end.kind, EndKind::cancelled);
  EXPECT_THAT(world.sent<Receipt>(), SizeIs(1));
  EXPECT_TRUE(world.executor.contains(kLease)) << "results are kept until they are acknowledged";
  world.say(kBuyer, ReceiptAck{kLease});
  world.say(kBuyer, DoneAck{kLease, {attempt(5, 0), attempt(5, 1)}});
  EXPECT_FALSE(world.executor.contains(kLease));
  EXPECT_THAT(world.records<RunRecord>(), IsEmpty());
  EXPECT_THAT(world.records<SoldLeaseRecord>(), IsEmpty());
}

TEST(SellingEnds, AnExecutorThatNeverAnswersDoesNotKeepALease) {
  World world;
  world.say(kBuyer, first_award(1, 1));
  world.start(kLease, attempt(5, 0));
  world.say(kBuyer, Release{kLease, ReleaseReason::cancelled});
  world.pass(minutes(2));
  EXPECT_FALSE(world.sent<Receipt>().empty());
  EXPECT_FALSE(world.executor.contains(kLease));
  EXPECT_EQ(world.selling->free(), world.node);
}

TEST(SellingEnds, AtItsEndABuyerInSightLosesTheLease) {
  World world;
  world.say(kBuyer, first_award(1, 1));
  world.start(kLease, attempt(5, 0));
  world.pass(minutes(10) - seconds(5));
  world.say(kBuyer, LeaseBeat{kLease, {}});
  world.pass(seconds(10));
  EXPECT_TRUE(world.executor[kLease][attempt(5, 0)].interrupted);
  world.finish(kLease, attempt(5, 0));
  EXPECT_EQ(world.sent<Done>().at(0).end.kind, EndKind::interrupted);
  EXPECT_EQ(world.sent<Release>().at(0).reason, ReleaseReason::lease_ended);
}

TEST(SellingEnds, WorkOfASilentBuyerGoesOnForTheExtension) {
  World world;
  world.say(kBuyer, first_award(1, 2));
  world.start(kLease, attempt(5, 0));
  world.pass(minutes(19));
  EXPECT_FALSE(world.executor[kLease][attempt(5, 0)].interrupted);
  world.pass(minutes(1) + seconds(10));
  EXPECT_TRUE(world.executor[kLease][attempt(5, 0)].interrupted);
  world.finish(kLease, attempt(5, 0));
  auto receipts = world.sent<Receipt>();
  ASSERT_FALSE(receipts.empty());
  EXPECT_LE(receipts[0].reserved, minutes(20)) << "not a moment past the extension is paid for";
  EXPECT_FALSE(world.launches.contains(attempt(5, 1))) << "nothing new starts in an extension";
}

TEST(SellingEnds, AnExtendedLeaseEndsWithItsWork) {
  World world;
  world.say(kBuyer, first_award(1, 1));
  world.start(kLease, attempt(5, 0));
  world.pass(minutes(15));
  world.finish(kLease, attempt(5, 0));
  EXPECT_EQ(world.sent<Done>().at(0).end.kind, EndKind::exited);
  EXPECT_FALSE(world.sent<Receipt>().empty());
}

TEST(SellingEnds, RenewalAtThePriceOfTheDay) {
  World world;
  Award a = first_award(1, 2);
  world.say(kBuyer, a);
  world.start(kLease, attempt(5, 0));
  world.pass(minutes(9));
  world.say(kBuyer, Renew{kLease, minutes(30)});
  auto renewed = world.sent<Renewed>();
  ASSERT_THAT(renewed, SizeIs(1));
  EXPECT_EQ(renewed[0].lease_time, minutes(30));
  EXPECT_LT(renewed[0].price, a.price);
  world.pass(minutes(25));
  EXPECT_FALSE(world.executor[kLease][attempt(5, 0)].interrupted);
  world.say(kBuyer, Renew{kLease, hours(25)});
  EXPECT_EQ(world.sent<Renewed>().at(0).lease_time, Duration{});
  world.tell(Drain{1, true});
  world.say(kBuyer, Renew{kLease, minutes(30)});
  EXPECT_EQ(world.sent<Renewed>().at(0).lease_time, Duration{});
  world.finish(kLease, attempt(5, 0));
  world.finish(kLease, attempt(5, 1));
  world.say(kBuyer, Release{kLease, ReleaseReason::work_done});
  Money expected = cost_of(a.price, 1, minutes(9)) + cost_of(renewed[0].price, 1, minutes(25));
  EXPECT_EQ(world.sent<Receipt>().at(0).owed, expected);
}

/// A lease that works on an otherwise empty node.
struct Renewal {
  Renewal() {
    world.say(kBuyer, first);
    world.start(kLease, attempt(5, 0));
    world.pass(minutes(9));
  }
  /// From now on the price of the day is higher.
  void fill() {
    std::vector<AttemptId> attempts;
    for (std::uint32_t i = 0; i < 7; ++i) attempts.push_back(attempt(8, i));
    world.say(contact(8), award(8, 8, 7, attempts));
    for (const AttemptId& attempt : attempts) world.start(id<LeaseId>(8), attempt);
  }
  Renewed ask(Price named, std::uint32_t round) {
    world.say(kBuyer, Renew{kLease, minutes(30), named, round});
    auto renewed = world.sent<Renewed>();
    EXPECT_THAT(renewed, SizeIs(1));
    return renewed.empty() ? Renewed{} : renewed[0];
  }
  Price price() {
    for (const SoldLeaseRecord& sold : world.records<SoldLeaseRecord>()) {
      if (sold.lease == kLease) return sold.spans.back().price;
    }
    ADD_FAILURE() << "no such lease";
    return {};
  }

  World world;
  Award first = first_award(1, 1);
};

TEST(SellingRenewal, NothingChangesUntilTheBuyerNamesThePriceOfTheDay) {
  Renewal lease;
  lease.fill();
  Renewed offer = lease.ask(Price{1}, 1);
  EXPECT_TRUE(offer.offered);
  EXPECT_EQ(offer.lease_time, Duration{});
  EXPECT_GT(offer.price, Price{1});
  EXPECT_EQ(lease.price(), lease.first.price);
  EXPECT_TRUE(lease.ask(Price{offer.price.micro_per_s - 1}, 2).offered);
  Renewed renewed = lease.ask(offer.price, 3);
  EXPECT_FALSE(renewed.offered);
  EXPECT_EQ(renewed.lease_time, minutes(30));
  EXPECT_EQ(renewed.price, offer.price);
  EXPECT_EQ(lease.price(), offer.price);
}

TEST(SellingRenewal, AnOfferStandsForAWhile) {
  Renewal lease;
  Renewed offer = lease.ask(Price{1}, 1);
  lease.fill();
  lease.world.pass(seconds(9));
  EXPECT_TRUE(lease.ask(Price{1}, 2).offered);
  EXPECT_EQ(lease.ask(offer.price, 3).lease_time, minutes(30));
  EXPECT_EQ(lease.price(), offer.price);
}

TEST(SellingRenewal, AnOfferEnds) {
  Renewal lease;
  Renewed offer = lease.ask(Price{1}, 1);
  lease.fill();
  lease.world.pass(seconds(11));
  Renewed again = lease.ask(offer.price, 2);
  EXPECT_TRUE(again.offered);
  EXPECT_GT(again.price, offer.price);
}

TEST(SellingRenewal, ARepeatedQuestionIsAnsweredAsBeforeAndAnEarlierOneNotAtAll) {
  Renewal lease;
  Renewed renewed = lease.ask(Price{1'000'000'000}, 7);
  lease.fill();
  for (bool after_a_crash : {false, true}) {
    if (after_a_crash) lease.world.crash();
    lease.world.pass(seconds(1));
    Renewed again = lease.ask(Price{1'000'000'000}, 7);
    EXPECT_EQ(again.price, renewed.price);
    EXPECT_LT(again.lease_time, renewed.lease_time);
    lease.world.say(kBuyer, Renew{kLease, hours(2), Price{1'000'000'000}, 6});
    EXPECT_THAT(lease.world.sent<Renewed>(), IsEmpty());
    EXPECT_EQ(lease.price(), renewed.price);
  }
}

TEST(SellingRenewal, ABuyerThatNamesNoPriceTakesThatOfTheDay) {
  Renewal lease;
  lease.world.say(kBuyer, Renew{kLease, minutes(30)});
  auto renewed = lease.world.sent<Renewed>();
  ASSERT_THAT(renewed, SizeIs(1));
  EXPECT_EQ(renewed[0].lease_time, minutes(30));
  EXPECT_EQ(lease.price(), renewed[0].price);
}

TEST(SellingEnds, IdleLeasesAreGivenUp) {
  World world;
  world.say(kBuyer, first_award(1, 0));
  for (int i = 0; i < 5; ++i) {
    world.pass(seconds(4));
    world.say(kBuyer, LeaseBeat{kLease, {}});
  }
  EXPECT_THAT(world.sent<Release>(), IsEmpty());
  world.pass(seconds(6));
  EXPECT_EQ(world.sent<Release>().at(0).reason, ReleaseReason::lease_ended);
  EXPECT_FALSE(world.sent<Receipt>().empty());
}

TEST(SellingEnds, ABuyerThatNeverComesBackIsForgottenInTheEnd) {
  World world;
  world.say(kBuyer, first_award(1, 1));
  world.start(kLease, attempt(5, 0));
  world.finish(kLease, attempt(5, 0));
  world.pass(hours(24));
  EXPECT_THAT(world.records<RunRecord>(), SizeIs(1));
  world.pass(hours(24 * 7));
  EXPECT_THAT(world.records<RunRecord>(), IsEmpty());
  EXPECT_THAT(world.records<SoldLeaseRecord>(), IsEmpty());
  EXPECT_TRUE(world.executor.empty());
  EXPECT_EQ(world.selling->next_wake(), std::nullopt);
}

TEST(SellingEnds, ADeadShimEndsItsLease) {
  World world;
  world.say(kBuyer, first_award(1, 2));
  world.start(kLease, attempt(5, 0));
  world.break_lease(kLease);
  auto dones = world.sent<Done>();
  ASSERT_THAT(dones, SizeIs(2));
  EXPECT_EQ(dones[0].end.kind, EndKind::lost);
  EXPECT_EQ(world.sent<Release>().at(0).reason, ReleaseReason::broken);
  EXPECT_EQ(world.selling->free(), world.node);
}

TEST(SellingEnds, OneBuyerCannotPileUpUnsettledLeases) {
  SellingConfig strict;
  strict.leases_per_buyer_max = 2;
  World world({8'000, 0, 0, {}}, strict);
  for (std::uint8_t lease : {5, 6, 7}) {
    world.say(kBuyer, award(lease, 1, 1));
    world.say(kBuyer, Release{id<LeaseId>(lease), ReleaseReason::work_done});
  }
  EXPECT_THAT(world.sent<Accept>(), SizeIs(2));
  world.say(kBuyer, ReceiptAck{id<LeaseId>(5)});
  world.say(kBuyer, award(8, 1, 1));
  EXPECT_THAT(world.sent<Accept>(), SizeIs(1));
}

TEST(SellingEnds, HardwareMayComeAndGo) {
  World world;
  world.say(kBuyer, first_award(4, 0));
  world.tell(CapacityProbed{{2'000, 0, 0, {}}});
  EXPECT_EQ(world.selling->free().cpu_milli, 0u);
  world.tell(CapacityProbed{{16'000, 0, 0, {}}});
  EXPECT_EQ(world.selling->free().cpu_milli, 12'000u);
}

}  // namespace
}  // namespace abacus::selling_test
