// Each way a process can end has its name in the market.
#include "runtime/agent/exit_translation.h"

#include <gtest/gtest.h>

namespace abacus {
namespace {

TEST(ExitTranslation, NamesEveryEnd) {
  ExitRecord exited;
  exited.exit_code = 3;
  EXPECT_EQ(to_task_end(exited).kind, EndKind::exited);
  EXPECT_EQ(to_task_end(exited).exit_code, 3);
  ExitRecord record;
  record.signal = 9;
  EXPECT_EQ(to_task_end(record).kind, EndKind::signalled);
  record.interrupted = true;
  EXPECT_EQ(to_task_end(record).kind, EndKind::cancelled);
  record.timed_out = true;
  EXPECT_EQ(to_task_end(record).kind, EndKind::timed_out);
  record.oom_killed = true;
  EXPECT_EQ(to_task_end(record).kind, EndKind::out_of_memory);
  record.launch_error = "command 'x' not found";
  EXPECT_EQ(to_task_end(record).kind, EndKind::failed_to_start);
  EXPECT_EQ(to_task_end(record).message, "command 'x' not found");
}

TEST(ExitTranslation, AddsUpWhatWasUsed) {
  ExitRecord record;
  record.cpu_user = seconds(2);
  record.cpu_system = seconds(1);
  record.stderr_truncated = true;
  EXPECT_EQ(to_task_end(record).cpu_time, seconds(3));
  EXPECT_TRUE(to_task_end(record).output_truncated);
}

}  // namespace
}  // namespace abacus
