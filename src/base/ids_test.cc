// Ids: text both ways, order, and what is refused.
#include "base/ids.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <type_traits>

#include "base/prng.h"

namespace abacus {
namespace {

static_assert(!std::is_convertible_v<NodeId, OrgId>, "ids of different kinds must not mix");

template <class AnyId>
void round_trip(std::uint64_t seed) {
  Prng prng(seed);
  AnyId id;
  prng.fill(id.bytes);
  RC_ASSERT(id.to_string().size() == 2 * AnyId::kSize);
  RC_ASSERT(id.to_string().starts_with(id.short_string()));
  Result<AnyId> back = AnyId::parse(id.to_string());
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == id);
}

RC_GTEST_PROP(Ids, EveryKindRoundTrips, (std::uint64_t seed)) {
  round_trip<NodeId>(seed);
  round_trip<OrgId>(seed);
  round_trip<JobId>(seed);
  round_trip<LeaseId>(seed);
  round_trip<Digest>(seed);
}

RC_GTEST_PROP(Ids, OrderIsThatOfTheText, (std::uint64_t a, std::uint64_t b)) {
  JobId left, right;
  Prng(a).fill(left.bytes);
  Prng(b).fill(right.bytes);
  RC_ASSERT((left < right) == (left.to_string() < right.to_string()));
  RC_ASSERT((left == right) == (left.to_string() == right.to_string()));
}

TEST(Ids, EmptyNamesNothing) {
  EXPECT_TRUE(JobId{}.empty());
  EXPECT_FALSE((JobId{{0, 0, 0, 0, 0, 1}}.empty()));
}

TEST(Ids, ParseRefusesWrongLengthAndSaysTheRightOne) {
  Result<JobId> result = JobId::parse("abcdef");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "'abcdef' is not an id of 12 hex digits");
  EXPECT_FALSE(JobId::parse("").has_value());
  EXPECT_FALSE(JobId::parse("00112233445566").has_value());
}

TEST(Ids, ParseRefusesWhatIsNoHexDigit) { EXPECT_FALSE(JobId::parse("00112233445g").has_value()); }

RC_GTEST_PROP(Ids, TaskRoundTrips, (std::uint64_t seed, std::uint32_t index)) {
  TaskId task;
  Prng(seed).fill(task.job.bytes);
  task.index = index;
  Result<TaskId> back = TaskId::parse(task.to_string());
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == task);
}

TEST(Ids, BareJobIsItsTaskZero) {
  TaskId task = TaskId::parse("0a0b0c0d0e0f").value();
  EXPECT_EQ(task.job.to_string(), "0a0b0c0d0e0f");
  EXPECT_EQ(task.index, 0u);
}

TEST(Ids, TaskParseRefusesBadIndices) {
  for (const char* text : {"0a0b0c0d0e0f.", "0a0b0c0d0e0f.x", "0a0b0c0d0e0f.-1", "0a0b0c0d0e0f.1.2", "0a0b0c0d0e0f. 1",
                           "0a0b0c0d0e0f.4294967296", ".1", "", "."}) {
    Result<TaskId> result = TaskId::parse(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::invalid) << text;
  }
}

TEST(Ids, AttemptTextNamesTaskAndNumber) {
  AttemptId attempt{{JobId{{1, 2, 3, 4, 5, 6}}, 7}, 2};
  EXPECT_EQ(attempt.to_string(), "010203040506.7#2");
}

}  // namespace
}  // namespace abacus
