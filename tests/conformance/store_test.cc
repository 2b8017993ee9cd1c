// What a store keeps, loses and never does: the simulated disk and the journal on SQLite.
#include <gmock/gmock.h>

#include "store_port.h"

namespace abacus::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

JobRecord job(std::uint8_t name, std::string text = "true") {
  JobRecord record;
  record.job.bytes[0] = name;
  record.spec.work.command = {std::move(text)};
  return record;
}

RunRecord run(std::uint32_t index) {
  RunRecord record;
  record.attempt = {{{}, index}, 1};
  return record;
}

class StoreConformance : public ::testing::TestWithParam<Realm> {
 protected:
  StorePort store{GetParam().make(1)};
};

INSTANTIATE_TEST_SUITE_P(Port, StoreConformance,
                         ::testing::Values(Realm{"Simulated", simulated_machines}, Realm{"Sqlite", real_machines}),
                         name_of_realm);

TEST_P(StoreConformance, IsEmptyAtFirst) { EXPECT_THAT(store.content(), IsEmpty()); }

TEST_P(StoreConformance, WhatWasCommittedIsReadBackAfterARestart) {
  ASSERT_TRUE(store.commit({put_change(job(1, "first")), put_change(run(7))}));
  ASSERT_TRUE(store.commit({put_change(job(2, std::string(100'000, 'x')))}));
  store.restart();
  EXPECT_THAT(store.content(),
              ElementsAre(encode(job(1, "first")), encode(job(2, std::string(100'000, 'x'))), encode(run(7))));
}

TEST_P(StoreConformance, IsReadInTheOrderOfKindsAndOfTheBytesOfKeys) {
  // Kinds are not in the order of their keys, and keys of one kind are of different lengths.
  ASSERT_TRUE(store.commit({put_change(run(70'000)), put_change(run(3)), put_change(run(300)), put_change(run(24))}));
  ASSERT_TRUE(store.commit({put_change(job(255)), put_change(job(0)), put_change(NodeRecord{})}));
  EXPECT_THAT(store.content(), ElementsAre(encode(NodeRecord{}), encode(job(0)), encode(job(255)), encode(run(3)),
                                           encode(run(24)), encode(run(300)), encode(run(70'000))));
}

TEST_P(StoreConformance, ChangesOfATransactionApplyInTheirOrder) {
  ASSERT_TRUE(store.commit({put_change(job(1, "old")), put_change(job(2))}));
  ASSERT_TRUE(
      store.commit({erase_change<JobRecord>(job(1).job), put_change(job(1, "new")), put_change(job(1, "newest")),
                    put_change(job(3)), erase_change<JobRecord>(job(3).job), erase_change<JobRecord>(job(2).job)}));
  store.restart();
  EXPECT_THAT(store.content(), ElementsAre(encode(job(1, "newest"))));
}

TEST_P(StoreConformance, TransactionsApplyInTheirOrder) {
  for (int i = 0; i <= 20; ++i) ASSERT_TRUE(store.commit({put_change(job(1, std::to_string(i)))}));
  store.restart();
  EXPECT_THAT(store.content(), ElementsAre(encode(job(1, "20"))));
}

TEST_P(StoreConformance, ErasingNothingAndChangingNothingAreNoErrors) {
  EXPECT_TRUE(store.commit({}));
  EXPECT_TRUE(store.commit({erase_change<JobRecord>(job(9).job)}));
  EXPECT_THAT(store.content(), IsEmpty());
}

TEST_P(StoreConformance, ATransactionThatWasNotAnsweredIsThereAsAWholeOrNotAtAll) {
  ASSERT_TRUE(store.commit({put_change(job(1))}));
  std::vector<JournalChange> many{erase_change<JobRecord>(job(1).job)};
  for (std::uint32_t i = 0; i < 500; ++i) many.push_back(put_change(run(i)));
  store.machines().at(0).commit(many);
  store.restart();
  auto content = store.content();
  EXPECT_TRUE(content.size() == 500 || (content.size() == 1 && content[0] == encode(job(1)))) << content.size();
  EXPECT_TRUE(store.commit({put_change(job(2))})) << "the next life writes on";
}

TEST_P(StoreConformance, AFailedTransactionIsReportedAndLeavesNothing) {
  ASSERT_TRUE(store.commit({put_change(job(1))}));
  store.machines().fill_disks();
  Status failed = store.commit({put_change(run(1)), erase_change<JobRecord>(job(1).job), put_change(job(2))});
  store.machines().empty_disks();
  EXPECT_FALSE(failed.has_value());
  EXPECT_THAT(store.content(), ElementsAre(encode(job(1))));
  ASSERT_TRUE(store.commit({put_change(job(3))})) << "there is room again";
  store.restart();
  EXPECT_THAT(store.content(), ElementsAre(encode(job(1)), encode(job(3))));
}

}  // namespace
}  // namespace abacus::conformance
