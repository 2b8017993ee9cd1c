// Every kind of damage that leaves rows readable, and what is said about it.
#include "core/model/record_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/limits.h"

namespace abacus {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

JobRecord some_job() {
  JobRecord job;
  job.job.bytes[0] = 1;
  job.spec.work.command = {"true"};
  job.spec.is_array = true;
  job.spec.array = {2, 8, 3, 0};
  return job;
}

TaskRecord some_task(std::uint32_t index) {
  TaskRecord task;
  task.task = {some_job().job, index};
  return task;
}

SoldLeaseRecord sold_lease() {
  SoldLeaseRecord lease;
  lease.work.command = {"true"};
  lease.slots = 1;
  lease.spans = {{WallTime{1}, Price{1}}};
  return lease;
}

BoughtLeaseRecord bought_lease() {
  BoughtLeaseRecord lease;
  lease.job = some_job().job;
  lease.slots = 1;
  return lease;
}

template <class... R>
Result<std::vector<Record>> read(const R&... records) {
  RecordReader reader;
  for (const JournalChange& row : {put_change(records)...}) TRY_STATUS(reader.add(row.kind, row.key, *row.value));
  std::vector<Record> all = reader.take();
  TRY_STATUS(check_whole(all));
  return all;
}

template <class... R>
std::string error_of(const R&... records) {
  auto result = read(records...);
  return result ? "no error" : result.error().message;
}

TEST(RecordReader, GivesAllRecordsInOrder) {
  auto records = read(NodeRecord{}, some_job(), some_task(2), some_task(5), bought_lease(), sold_lease());
  ASSERT_TRUE(records.has_value()) << records.error().message;
  EXPECT_THAT(*records, SizeIs(6));
  EXPECT_TRUE(std::holds_alternative<SoldLeaseRecord>(records->back()));
  EXPECT_THAT(RecordReader().take(), SizeIs(0));
}

TEST(RecordReader, ARecordWithoutTheOneItReliesOnIsNotLeftAside) {
  EXPECT_THAT(error_of(NodeRecord{}, some_task(2)), AllOf(HasSubstr("TaskRecord"), HasSubstr("which is missing")));
  EXPECT_THAT(error_of(NodeRecord{}, bought_lease()), AllOf(HasSubstr("BoughtLeaseRecord"), HasSubstr("is missing")));
  EXPECT_THAT(error_of(NodeRecord{}, some_job(), some_task(3)), HasSubstr("has index 3"));
  EXPECT_THAT(error_of(NodeRecord{}, some_job(), some_task(11)), HasSubstr("has index 11"));
  EXPECT_THAT(error_of(some_job()), HasSubstr("that of the node itself is missing"));
}

TEST(RecordReader, RowsAreThereOnceAndInOrder) {
  EXPECT_THAT(error_of(NodeRecord{}, some_job(), some_job()), HasSubstr("twice or out of order"));
  EXPECT_THAT(error_of(NodeRecord{}, some_job(), some_task(5), some_task(2)), HasSubstr("TaskRecord"));
}

TEST(RecordReader, AKeyOfAnotherRecordIsNamed) {
  RecordReader reader;
  const JournalChange job = put_change(some_job());
  Status status = reader.add(job.kind, encode(JobId{}), *job.value);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::corrupt);
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("JobRecord"), HasSubstr(to_hex(job.key))));
}

TEST(RecordReader, ValuesThatNoNodeWritesAreRefused) {
  auto sold = sold_lease();
  sold.spans.clear();
  EXPECT_THAT(error_of(NodeRecord{}, sold), AllOf(HasSubstr("SoldLeaseRecord"), HasSubstr("without a price")));
  sold = sold_lease();
  sold.slots = limits::kSlots + 1;
  EXPECT_THAT(error_of(NodeRecord{}, sold), HasSubstr("100001 slots"));
  sold = sold_lease();
  sold.devices = {UINT32_MAX};
  EXPECT_THAT(error_of(NodeRecord{}, sold), HasSubstr("device 4294967295"));
  RunRecord run;
  run.devices = {limits::kDeviceIndices};
  EXPECT_THAT(error_of(NodeRecord{}, run), AllOf(HasSubstr("RunRecord"), HasSubstr("device 1600000")));
  auto bought = bought_lease();
  bought.slots = 0;
  EXPECT_THAT(error_of(NodeRecord{}, some_job(), bought), HasSubstr("0 slots"));
}

}  // namespace
}  // namespace abacus
