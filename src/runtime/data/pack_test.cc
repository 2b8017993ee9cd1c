// Packing and unpacking on a real disk: names, modes, links, sparse files, output patterns.
#include "runtime/data/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <tuple>

#include "base/prng.h"
#include "runtime/data/chunk.h"
#include "runtime/data/unpack.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Kind, mode, and content or target.
using Seen = std::map<std::string, std::tuple<char, unsigned, std::string>>;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, std::string_view content, mode_t mode = 0644) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
  chmod(path.c_str(), mode);
}

Seen look_at(const fs::path& root) {
  Seen seen;
  for (const auto& item : fs::recursive_directory_iterator(root)) {
    struct stat info {};
    lstat(item.path().c_str(), &info);
    std::string name = fs::relative(item.path().parent_path(), root) / item.path().filename();
    if (S_ISLNK(info.st_mode)) {
      seen[name] = {'l', 0u, fs::read_symlink(item.path()).string()};
    } else if (S_ISDIR(info.st_mode)) {
      seen[name] = {'d', info.st_mode & 0777u, ""};
    } else {
      seen[name] = {'f', info.st_mode & 0777u, read_file(item.path())};
    }
  }
  return seen;
}

class PackTest : public testing::Test {
 protected:
  std::vector<std::string> paths_of(const Digest& manifest) {
    std::vector<std::string> paths;
    Manifest tree = load_manifest(*store_, manifest).value();
    for (const auto& entry : tree.entries) paths.push_back(entry.path);
    return paths;
  }

  Status unpack_at(const Digest& manifest, const fs::path& destination, std::uint64_t bytes_max = UINT64_MAX) {
    return unpack(*store_, load_manifest(*store_, manifest).value(), destination, bytes_max);
  }
  Status unpack_over_at(const Digest& manifest, const fs::path& destination) {
    return unpack_over(*store_, load_manifest(*store_, manifest).value(), destination, UINT64_MAX);
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<ContentStore> store_ = std::move(ContentStore::open(temporary_ / "store", 1 << 30).value());
  fs::path in_ = temporary_ / "in", out_ = temporary_ / "out";
};

TEST_F(PackTest, TreeComesBackAsItWas) {
  write_file(in_ / "run.sh", "#!/bin/sh\n", 0755);
  write_file(in_ / "empty", "");
  write_file(in_ / "deep/er/private", std::string(100, 'p'), 0600);
  write_file(in_ / "latin1-\xe9", "name that is no UTF-8");
  fs::create_directories(in_ / "empty-dir");
  fs::create_symlink("../run.sh", in_ / "deep/link");
  fs::create_symlink("deep", in_ / "dir-link");
  auto packed = pack(*store_, "job", {{in_, "."}});
  ASSERT_TRUE(packed.has_value()) << packed.error().message;
  auto unpacked = unpack_at(*packed, out_);
  ASSERT_TRUE(unpacked.has_value()) << unpacked.error().message;
  EXPECT_EQ(look_at(in_), look_at(out_));
  EXPECT_FALSE(fs::exists(temporary_ / ".out.partial"));
  store_->collect();
  EXPECT_TRUE(unpack_at(*packed, temporary_ / "again").has_value());
}

TEST_F(PackTest, SourcesGetTheNamesGiven) {
  write_file(in_ / "a", "1");
  write_file(in_ / "dir/b", "2");
  fs::create_symlink(in_ / "dir", temporary_ / "to-dir");
  auto packed = pack(*store_, "job", {{in_ / "a", "x/y/renamed"}, {temporary_ / "to-dir", "d"}});
  ASSERT_TRUE(packed.has_value()) << packed.error().message;
  EXPECT_THAT(paths_of(*packed), ElementsAre("d", "d/b", "x", "x/y", "x/y/renamed"));
}

TEST_F(PackTest, SameTreeSameDigest) {
  write_file(in_ / "b", "2");
  write_file(in_ / "a", "1");
  write_file(temporary_ / "copy/a", "1");
  write_file(temporary_ / "copy/b", "2");
  EXPECT_EQ(*pack(*store_, "x", {{in_, "t"}}), *pack(*store_, "y", {{temporary_ / "copy", "t"}}));
}

TEST_F(PackTest, LargeSparseFileIsKeptOnceAndComesBack) {
  write_file(in_ / "big", "start");
  fs::resize_file(in_ / "big", 50'000'000);
  std::ofstream(in_ / "big", std::ios::binary | std::ios::app) << "end";
  auto packed = pack(*store_, "job", {{in_ / "big", "big"}});
  ASSERT_TRUE(packed.has_value());
  EXPECT_LT(store_->usage().bytes, 20'000u);
  ASSERT_TRUE(unpack_at(*packed, out_).has_value());
  EXPECT_EQ(fs::file_size(out_ / "big"), 50'000'003u);
  EXPECT_EQ(read_file(out_ / "big"), read_file(in_ / "big"));
}

TEST_F(PackTest, WhatCannotBeSentIsRefusedByName) {
  write_file(in_ / "a", "1");
  auto refusal = [&](const std::vector<PackSource>& sources) {
    auto packed = pack(*store_, "job", sources);
    return packed ? Error{ErrorCode::internal, "was packed"} : packed.error();
  };
  EXPECT_EQ(refusal({{in_ / "missing", "x"}}).code, ErrorCode::not_found);
  EXPECT_THAT(refusal({{in_ / "missing", "x"}}).message, HasSubstr("missing"));
  EXPECT_EQ(refusal({{in_ / "a", "../x"}}).code, ErrorCode::invalid);
  EXPECT_EQ(refusal({{in_ / "a", "/x"}}).code, ErrorCode::invalid);
  EXPECT_EQ(refusal({{in_ / "a", "."}}).code, ErrorCode::invalid);
  EXPECT_EQ(refusal({{in_ / "a", "x"}, {in_, "x"}}).code, ErrorCode::invalid);
  EXPECT_EQ(refusal({{"/dev/null", "x"}}).code, ErrorCode::invalid);
  ASSERT_EQ(mkfifo((in_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal({{in_, "."}}).message, HasSubstr("pipe"));
  fs::remove(in_ / "pipe");
  fs::create_symlink("/etc/passwd", in_ / "escape");
  EXPECT_THAT(refusal({{in_, "."}}).message, HasSubstr("escape"));
}

TEST_F(PackTest, OutputsAreFoundByNameDirectoryAndGlob) {
  for (const char* name :
       {"result.txt", "logs/a.log", "logs/b.log", "logs/c.txt", "model/w/1", "other", ".hidden.log"}) {
    write_file(in_ / name, name);
  }
  auto packed =
      pack_outputs(*store_, "t", in_, {"result.txt", "logs/*.log", "model/", "m*l/w", "*.log", "none*", "no/thing"});
  ASSERT_TRUE(packed.has_value()) << packed.error().message;
  EXPECT_THAT(paths_of(packed->manifest),
              ElementsAre("logs", "logs/a.log", "logs/b.log", "model", "model/w", "model/w/1", "result.txt"));
  ASSERT_EQ(packed->problems.size(), 3u);
  EXPECT_EQ(packed->problems[0].pattern, "*.log");
  EXPECT_EQ(packed->problems[1].pattern, "none*");
  EXPECT_EQ(packed->problems[2].why.code, ErrorCode::not_found);
}

TEST_F(PackTest, OutputsNeverFollowLinksOut) {
  write_file(temporary_ / "secret/key", "secret");
  write_file(in_ / "good", "1");
  fs::create_symlink(temporary_ / "secret", in_ / "dir");
  fs::create_symlink(temporary_ / "secret/key", in_ / "file");
  fs::create_symlink("..", in_ / "up");
  auto packed = pack_outputs(*store_, "t", in_,
                             {"file", "dir/key", "dir", "up/secret/key", "../secret/key", "/etc/passwd", "good"});
  ASSERT_TRUE(packed.has_value());
  EXPECT_THAT(paths_of(packed->manifest), ElementsAre("good"));
  EXPECT_EQ(packed->problems.size(), 6u);
}

TEST_F(PackTest, NoOutputsIsAnEmptyTree) {
  fs::create_directory(in_);
  auto packed = pack_outputs(*store_, "t", in_, {});
  ASSERT_TRUE(packed.has_value());
  EXPECT_THAT(paths_of(packed->manifest), IsEmpty());
  EXPECT_TRUE(unpack_at(packed->manifest, out_).has_value());
  EXPECT_TRUE(fs::is_empty(out_));
}

TEST_F(PackTest, UnpackTakesAnEmptyDirectoryAndRefusesAFullOne) {
  write_file(in_ / "a", "1");
  Digest tree = *pack(*store_, "job", {{in_, "."}});
  fs::create_directory(out_);
  ASSERT_TRUE(unpack_at(tree, out_ / "").has_value());
  auto again = unpack_at(tree, out_);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::already_exists);
  EXPECT_FALSE(fs::exists(temporary_ / ".out.partial"));
}

TEST_F(PackTest, HalfDoneUnpackIsNeverAtTheDestination) {
  write_file(in_ / "a", "first");
  write_file(in_ / "b", "second");
  Digest tree = *pack(*store_, "job", {{in_, "."}});
  write_file(temporary_ / ".out.partial/left", "over from a crash");
  fs::remove(temporary_ / "store/objects" / digest_of(as_bytes("second")).to_string());
  auto unpacked = unpack_at(tree, out_);
  ASSERT_FALSE(unpacked.has_value());
  EXPECT_THAT(unpacked.error().message, HasSubstr("'b'"));
  EXPECT_FALSE(fs::exists(out_));
  ASSERT_TRUE(store_->put(as_bytes("second")).has_value());
  ASSERT_TRUE(unpack_at(tree, out_).has_value());
  EXPECT_EQ(look_at(in_), look_at(out_));
}

TEST_F(PackTest, CorruptChunkStopsTheUnpack) {
  write_file(in_ / "a", "content");
  Digest tree = *pack(*store_, "job", {{in_, "."}});
  std::ofstream(temporary_ / "store/objects" / digest_of(as_bytes("content")).to_string()) << "junk";
  EXPECT_EQ(unpack_at(tree, out_).error().code, ErrorCode::corrupt);
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(PackTest, UnpackIsBounded) {
  write_file(in_ / "a", "12345");
  Digest tree = *pack(*store_, "job", {{in_, "."}});
  EXPECT_EQ(unpack_at(tree, out_, 4).error().code, ErrorCode::exhausted);
  EXPECT_TRUE(unpack_at(tree, out_, 5).has_value());
}

TEST_F(PackTest, UnpackRefusesAManifestThatLiesAboutAChunk) {
  TreeEntry entry{"a", TreeEntry::Kind::file, 0644, 3, {*store_->put(as_bytes("four"))}, {}};
  Digest tree = *store_->put(*encode_manifest({{entry}}));
  EXPECT_EQ(unpack_at(tree, out_).error().code, ErrorCode::corrupt);
}

TEST_F(PackTest, UnpackOverAddsAndReplaces) {
  write_file(in_ / "a", "new", 0755);
  write_file(in_ / "d/b", "new");
  fs::create_symlink("a", in_ / "l");
  Digest tree = *pack(*store_, "job", {{in_, "."}});
  write_file(out_ / "a", "old");
  write_file(out_ / "d/kept", "kept");
  fs::create_symlink("/nowhere", out_ / "l");
  auto unpacked = unpack_over_at(tree, out_);
  ASSERT_TRUE(unpacked.has_value()) << unpacked.error().message;
  Seen expected = look_at(in_);
  expected["d/kept"] = {'f', 0644u, "kept"};
  EXPECT_EQ(look_at(out_), expected);
}

TEST_F(PackTest, UnpackOverFollowsNoLinkOut) {
  write_file(in_ / "d/b", "new");
  Digest tree = *pack(*store_, "job", {{in_, "."}});
  write_file(temporary_ / "elsewhere/b", "precious");
  fs::create_directory(out_);
  fs::create_symlink(temporary_ / "elsewhere", out_ / "d");
  EXPECT_EQ(unpack_over_at(tree, out_).error().code, ErrorCode::already_exists);
  EXPECT_EQ(read_file(temporary_ / "elsewhere/b"), "precious");
  fs::remove(out_ / "d");
  fs::create_directories(out_ / "d/b");
  EXPECT_EQ(unpack_over_at(tree, out_).error().code, ErrorCode::already_exists);
}

/// A tree of fewer than 12 things drawn from a seed.
void grow_tree(const fs::path& root, std::uint64_t seed) {
  Prng prng(seed);
  std::vector<fs::path> directories = {root};
  fs::create_directories(root);
  for (std::uint64_t i = prng.below(12); i > 0; --i) {
    fs::path parent = directories[prng.below(directories.size())];
    fs::path path = parent / fmt::format("{}{}", prng.chance(1, 3) ? "." : "n", i);
    auto mode = static_cast<mode_t>(prng.below(0100));
    switch (prng.below(3)) {
      case 0:
        fs::create_directory(path);
        chmod(path.c_str(), 0700 | mode);
        directories.push_back(path);
        break;
      case 1: {
        std::size_t big = prng.chance(1, 20) ? prng.below(3) * kChunkBytes / 2 : 0;
        std::string content(big + prng.below(3), 'x');
        if (!content.empty()) content[prng.below(content.size())] = static_cast<char>(prng.next());
        write_file(path, content, (prng.chance(1, 2) ? 0500 : 0600) | mode);
        break;
      }
      default: {
        fs::path up = fs::relative(directories[prng.below(directories.size())], parent);
        if (up == ".") up = "dangling";
        fs::create_symlink(up, path);
      }
    }
  }
}

RC_GTEST_PROP(PackProperty, UnpackUndoesPack, (std::uint64_t seed)) {
  TemporaryDirectory temporary;
  auto store = std::move(ContentStore::open(temporary / "store", 1 << 30).value());
  grow_tree(temporary / "in", seed);
  auto packed = pack(*store, "p", {{temporary / "in", "."}});
  if (!packed) RC_FAIL(packed.error().message);
  auto unpacked = unpack(*store, load_manifest(*store, *packed).value(), temporary / "out", UINT64_MAX);
  if (!unpacked) RC_FAIL(unpacked.error().message);
  RC_ASSERT(look_at(temporary / "in") == look_at(temporary / "out"));
  RC_ASSERT(*pack(*store, "q", {{temporary / "out", "."}}) == *packed);
}

}  // namespace
}  // namespace abacus
