// Descriptors are closed once, errors name their path, a replaced file is whole.
#include "runtime/posix/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

class FdTest : public testing::Test {
 protected:
  TemporaryDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

TEST_F(FdTest, ClosesWhatItOwnsOnce) {
  int number = -1;
  {
    auto fd = open_at(AT_FDCWD, (directory_ / "file").string(), O_RDWR | O_CREAT, 0600);
    ASSERT_TRUE(fd.has_value());
    number = fd->get();
    Fd moved = std::move(*fd);
    EXPECT_FALSE(fd->valid());
    EXPECT_EQ(moved.get(), number);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

TEST_F(FdTest, ErrorsNameThePathAndTheReason) {
  auto fd = open_at(AT_FDCWD, (directory_ / "missing").string(), O_RDONLY);
  ASSERT_FALSE(fd.has_value());
  EXPECT_EQ(fd.error().code, ErrorCode::not_found);
  EXPECT_NE(fd.error().message.find("missing"), std::string::npos);
}

TEST_F(FdTest, ReplaceFileReadsBackWhole) {
  Bytes big(600'000, 7);
  ASSERT_TRUE(replace_file(directory_ / "state", as_bytes("old")).has_value());
  ASSERT_TRUE(replace_file(directory_ / "state", big).has_value());
  auto fd = open_at(AT_FDCWD, (directory_ / "state").string(), O_RDONLY);
  ASSERT_TRUE(fd.has_value());
  EXPECT_EQ(*read_up_to(fd->get(), 1 << 20, "read"), big);
  EXPECT_EQ(read_at(fd->get(), 599'990, 100, "read")->size(), 10u);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "state.new"));
}

}  // namespace
}  // namespace abacus
