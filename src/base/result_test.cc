// Results: values, errors, context, and the macros that pass errors on.
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace abacus {
namespace {

Result<int> positive(int n) {
  if (n <= 0) return fail(ErrorCode::invalid, "{} is not positive", n);
  return n;
}

Result<int> sum(int a, int b, int* steps) {
  TRY(int left, positive(a));
  ++*steps;
  TRY(int right, positive(b));
  ++*steps;
  return left + right;
}

Status both_positive(int a, int b) {
  TRY_STATUS(positive(a).map([](int) {}));
  if (a > 0) TRY_STATUS(positive(b).map([](int) {}));
  return {};
}

Result<std::unique_ptr<int>> boxed(int n) {
  TRY(int value, positive(n));
  return std::make_unique<int>(value);
}

Result<int> unboxed(int n) {
  TRY(std::unique_ptr<int> box, boxed(n));
  return *box;
}

TEST(Result, TryYieldsTheValue) {
  int steps = 0;
  EXPECT_EQ(sum(2, 3, &steps).value(), 5);
  EXPECT_EQ(steps, 2);
}

TEST(Result, TryStopsAtTheFirstError) {
  int steps = 0;
  Result<int> result = sum(2, -3, &steps);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalid);
  EXPECT_EQ(result.error().message, "-3 is not positive");
  EXPECT_EQ(steps, 1);
}

TEST(Result, TryMovesWhatCannotBeCopied) {
  EXPECT_EQ(unboxed(4).value(), 4);
  EXPECT_FALSE(unboxed(0).has_value());
}

TEST(Result, TryStatusPassesErrorsOn) {
  EXPECT_TRUE(both_positive(1, 2).has_value());
  EXPECT_EQ(both_positive(0, 2).error().message, "0 is not positive");
  EXPECT_EQ(both_positive(1, -2).error().message, "-2 is not positive");
}

TEST(Result, ContextIsPutInFront) {
  Error error = positive(0).error().in("field 'count'");
  EXPECT_EQ(error.message, "field 'count': 0 is not positive");
  EXPECT_EQ(error.code, ErrorCode::invalid);
  Status passed = fail(error);
  EXPECT_EQ(passed.error().message, error.message);
}

TEST(Result, EveryCodeHasAName) {
  EXPECT_STREQ(to_string(ErrorCode::invalid), "invalid");
  EXPECT_STREQ(to_string(ErrorCode::not_found), "not_found");
  EXPECT_STREQ(to_string(ErrorCode::already_exists), "already_exists");
  EXPECT_STREQ(to_string(ErrorCode::denied), "denied");
  EXPECT_STREQ(to_string(ErrorCode::unavailable), "unavailable");
  EXPECT_STREQ(to_string(ErrorCode::exhausted), "exhausted");
  EXPECT_STREQ(to_string(ErrorCode::timed_out), "timed_out");
  EXPECT_STREQ(to_string(ErrorCode::corrupt), "corrupt");
  EXPECT_STREQ(to_string(ErrorCode::unsupported), "unsupported");
  EXPECT_STREQ(to_string(ErrorCode::internal), "internal");
}

}  // namespace
}  // namespace abacus
