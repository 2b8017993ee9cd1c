// A disk keeps what was finished and loses what was only begun.
#include "sim/disk.h"

#include <gtest/gtest.h>

namespace abacus::sim {
namespace {

JobRecord job(std::uint8_t name) {
  JobRecord record;
  record.job.bytes[0] = name;
  record.spec.work.command = {"true"};
  return record;
}

TEST(Disk, LosesWhatWasNotCommitted) {
  Disk disk;
  disk.begin({put_change(job(1))});
  disk.finish();
  disk.begin({put_change(job(2)), erase_change<JobRecord>(job(1).job)});
  disk.roll_back();
  auto records = disk.load();
  ASSERT_TRUE(records.has_value());
  ASSERT_EQ(records->size(), 1u);
  EXPECT_EQ(std::get<JobRecord>(records->front()).job, job(1).job);
}

TEST(Disk, AppliesATransactionInOrder) {
  Disk disk;
  disk.begin({put_change(job(1)), erase_change<JobRecord>(job(1).job), put_change(job(2))});
  disk.finish();
  ASSERT_EQ(disk.load()->size(), 1u);
}

}  // namespace
}  // namespace abacus::sim
