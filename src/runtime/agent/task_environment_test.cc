// What a task finds in its environment.
#include "runtime/agent/task_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace abacus {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

Launch some_launch() {
  Launch launch;
  launch.attempt = {{{}, 7}, 2};
  launch.work.environment = {{"NAME", "value"}, {"PATH", "/opt/bin"}, {"ABACUS_ATTEMPT", "forged"}};
  return launch;
}

TEST(TaskEnvironment, TheJobsVariablesStandAboveTheDefaultsAndBelowOurOwn) {
  auto lines = task_environment(some_launch(), {}, "north", "/work");
  EXPECT_THAT(lines, Contains("NAME=value"));
  EXPECT_THAT(lines, Contains("PATH=/opt/bin"));
  EXPECT_THAT(lines, Contains("HOME=/work"));
  EXPECT_THAT(lines, Contains("ABACUS_TASK_INDEX=7"));
  EXPECT_THAT(lines, Contains("ABACUS_ATTEMPT=2"));
  EXPECT_THAT(lines, Contains("ABACUS_REGION=north"));
  EXPECT_THAT(lines, Not(Contains(StartsWith("CUDA_VISIBLE_DEVICES"))));
}

TEST(TaskEnvironment, NamesTheGpusThatWereGiven) {
  Launch launch = some_launch();
  launch.bundle.devices = {{"gpu", "", 2}};
  launch.devices = {1, 3};
  EXPECT_THAT(task_environment(launch, {}, "north", "/work"), Contains("CUDA_VISIBLE_DEVICES=1,3"));
}

}  // namespace
}  // namespace abacus
