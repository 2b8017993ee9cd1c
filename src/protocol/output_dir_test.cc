// Output folders of tasks.
#include "protocol/output_dir.h"

#include <gtest/gtest.h>

namespace abacus {
namespace {

TEST(OutputDir, FillsInIdAndIndex) {
  JobSpec spec;
  TaskId task{JobId::parse("0123456789ab").value(), 7};
  EXPECT_EQ(output_dir_of(spec, task), "");
  spec.output_dir = "/data/{job}/of-{job}";
  EXPECT_EQ(output_dir_of(spec, task), "/data/0123456789ab/of-0123456789ab");
  spec.is_array = true;
  EXPECT_EQ(output_dir_of(spec, task), "/data/0123456789ab/of-0123456789ab/7");
}

}  // namespace
}  // namespace abacus
