// Bytes come as they are in the file; what cannot be mapped is refused by name.
#include "runtime/posix/mapped_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  TemporaryDirectory directory;
  std::ofstream(directory / "some") << "some bytes";
  std::ofstream(directory / "empty");
  auto some = MappedFile::open(directory / "some");
  ASSERT_TRUE(some.has_value());
  MappedFile moved = std::move(*some);
  EXPECT_EQ(as_text(moved.bytes()), "some bytes");
  EXPECT_TRUE(some->bytes().empty());
  auto empty = MappedFile::open(directory / "empty");
  ASSERT_TRUE(empty.has_value());
  EXPECT_TRUE(empty->bytes().empty());
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  TemporaryDirectory directory;
  auto absent = MappedFile::open(directory / "absent");
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  EXPECT_NE(absent.error().message.find("absent"), std::string::npos);
  auto folder = MappedFile::open(directory.path());
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace abacus
