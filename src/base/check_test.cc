// A failed CHECK ends the program and says where and why.
#include "base/check.h"

#include <gtest/gtest.h>

namespace abacus {
namespace {

TEST(CheckDeathTest, SaysFileConditionAndDetail) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "check_test.cc:[0-9]+: CHECK failed: 1 \\+ 1 == 3\n");
  EXPECT_DEATH(CHECK_MSG(false, "the sky fell"), "CHECK failed: false \\(the sky fell\\)");
}

TEST(Check, PassesAndEvaluatesOnce) {
  int evaluations = 0;
  CHECK(++evaluations == 1);
  CHECK_MSG(++evaluations == 2, "unused");
  EXPECT_EQ(evaluations, 2);
}

}  // namespace
}  // namespace abacus
