// Pins and folders go when nobody needs them, and not before.
#include "runtime/agent/housekeeping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/agent/pin_owners.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

AttemptId attempt(std::uint32_t index) { return {{{}, index}, 1}; }

Digest digest(std::uint8_t first) {
  Digest result;
  result.bytes[0] = first;
  return result;
}

class HousekeepingTest : public ::testing::Test {
 protected:
  void pin(const std::string& owner) {
    Digest content = store_->put(as_bytes(owner)).value();
    ASSERT_TRUE(store_->pin(owner, std::array{content}).has_value());
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ContentStore> store_ = ContentStore::open(directory_ / "store", 1 << 20).value();
};

TEST_F(HousekeepingTest, AnEarlierLifesPinsGoButForInputsAndUnfetchedOutputs) {
  for (const std::string& owner : {submission_owner(1), input_owner(digest(1)), staging_owner(attempt(1)),
                                   output_owner(attempt(1)), output_owner(attempt(2)), result_owner(attempt(1))}) {
    pin(owner);
  }
  ASSERT_TRUE(drop_stale_pins(*store_, {attempt(2)}).has_value());
  EXPECT_THAT(store_->owners(), UnorderedElementsAre(input_owner(digest(1)), output_owner(attempt(2))));
}

TEST_F(HousekeepingTest, InputsGoWithTheLastJobThatNeedsThem) {
  pin(input_owner(digest(1)));
  pin(input_owner(digest(2)));
  pin(output_owner(attempt(1)));
  ASSERT_TRUE(drop_unused_inputs(*store_, {digest(2)}).has_value());
  EXPECT_THAT(store_->owners(), UnorderedElementsAre(input_owner(digest(2)), output_owner(attempt(1))));
  EXPECT_GT(store_->collect(), 0u);
}

TEST_F(HousekeepingTest, ForgottenJobsAreFoundAndStrangeFoldersAreNot) {
  JobId kept, gone;
  kept.bytes[0] = 1;
  gone.bytes[0] = 2;
  std::filesystem::path jobs = directory_ / "jobs";
  for (const std::string& name : {kept.to_string(), gone.to_string(), std::string("notes")}) {
    std::filesystem::create_directories(jobs / name / "0");
  }
  EXPECT_THAT(forgotten_jobs(jobs, [&](const JobId& job) { return job == kept; }),
              ElementsAre(jobs / gone.to_string()));
  EXPECT_TRUE(forgotten_jobs(directory_ / "absent", [](const JobId&) { return false; }).empty());
}

}  // namespace
}  // namespace abacus
