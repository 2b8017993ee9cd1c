// Manifests: round trips, evil trees, bounds, damaged bytes.
#include "runtime/data/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "protocol/cbor.h"
#include "runtime/data/chunk.h"
#include "runtime/data/tree_path.h"

namespace abacus {
namespace {

using testing::HasSubstr;
using Kind = TreeEntry::Kind;

TreeEntry directory(std::string path) { return {std::move(path), Kind::directory, 0755, 0, {}, {}}; }
TreeEntry link(std::string path, std::string target) {
  return {std::move(path), Kind::symlink, 0, 0, {}, std::move(target)};
}
TreeEntry file(std::string path, std::uint64_t size = 0) {
  TreeEntry entry{std::move(path), Kind::file, 0644, size, {}, {}};
  entry.chunks.resize(static_cast<std::size_t>((size + kChunkBytes - 1) / kChunkBytes));
  return entry;
}

/// The encoding of any entries, good or evil.
Bytes raw_manifest(const std::vector<TreeEntry>& entries) {
  Bytes bytes;
  CborWriter out(bytes);
  out.array(2);
  out.unsigned_integer(1);
  out.array(entries.size());
  for (const TreeEntry& entry : entries) {
    out.array(5);
    out.bytes(as_bytes(entry.path));
    out.unsigned_integer(static_cast<std::uint64_t>(entry.kind));
    out.unsigned_integer(entry.mode);
    out.unsigned_integer(entry.size);
    Bytes content(entry.target.begin(), entry.target.end());
    content.resize(content.size() + entry.chunks.size() * Digest::kSize);
    out.bytes(content);
  }
  return bytes;
}

TEST(Manifest, ComesBackAsItWent) {
  Manifest manifest{
      {file("a", 3), directory("d"), link("d/back", "../a"), file("d/big", 5 * kChunkBytes + 1), file("d.txt")}};
  std::sort(manifest.entries.begin(), manifest.entries.end(), [](auto& a, auto& b) { return a.path < b.path; });
  auto bytes = encode_manifest(manifest);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  EXPECT_EQ(*bytes, raw_manifest(manifest.entries));
  auto back = decode_manifest(*bytes);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, manifest);
  EXPECT_EQ(back->content_bytes(), 5 * kChunkBytes + 4);
}

TEST(Manifest, EmptyTreeIsATree) { EXPECT_TRUE(decode_manifest(*encode_manifest({})).has_value()); }

TEST(Manifest, EvilTreesAreRefused) {
  auto set_mode = [](TreeEntry entry, std::uint16_t mode) { return entry.mode = mode, entry; };
  auto set_size = [](TreeEntry entry, std::uint64_t size) { return entry.size = size, entry; };
  const std::vector<std::vector<TreeEntry>> evil = {
      {file("../up")},
      {file("..")},
      {file("/etc/passwd")},
      {file("")},
      {file(".")},
      {directory("a"), file("a//b")},
      {directory("a"), file("a/")},
      {directory("a"), file("a/../b")},
      {file(std::string("nul\0byte", 8))},
      {file(std::string(256, 'x'))},
      {file("same"), file("same")},
      {file("b"), file("a")},
      {file("a/without-parent")},
      {file("a"), file("a/below-a-file")},
      {link("a", "."), file("a/below-a-link")},
      {link("a", "b"), directory("a"), file("a/x")},
      {link("out", "../x")},
      {link("out", "/etc")},
      {link("out", "")},
      {link("dot", ".")},
      {link("a", "b"), link("b", "a/..")},
      {directory("d"), link("d/out", "../../x")},
      {directory("d"), link("d/out", "../x/../..")},
      {set_mode(file("setuid"), 04755)},
      {set_mode(file("unreadable"), 0)},
      {set_mode(directory("closed"), 0500)},
      {set_size(file("short"), 1)},
      {set_size(file("long", kChunkBytes), kChunkBytes + 1)},
      {set_size(file("huge"), UINT64_MAX)},
      {set_size(directory("d"), 1)},
  };
  for (const auto& entries : evil) {
    auto decoded = decode_manifest(raw_manifest(entries));
    ASSERT_FALSE(decoded.has_value()) << entries.back().path << " -> " << entries.back().target;
    EXPECT_EQ(decoded.error().code, ErrorCode::invalid) << decoded.error().message;
    EXPECT_FALSE(encode_manifest({entries}).has_value());
  }
}

TEST(Manifest, ErrorsNameTheEntry) {
  EXPECT_THAT(decode_manifest(raw_manifest({file("a/../../b")})).error().message, HasSubstr("a/../../b"));
}

TEST(Manifest, LinksInsideTheTreeAreGood) {
  for (const auto& [path, target] : std::vector<std::pair<const char*, const char*>>{
           {"l", "x"}, {"l", "x/y"}, {"d/l", ".."}, {"d/l", "../x"}, {"d/e/l", "../.."}, {"d/e/l", "../../x/y"}}) {
    EXPECT_TRUE(check_link_target(path, target).has_value()) << path << " -> " << target;
  }
}

TEST(Manifest, DepthIsBounded) {
  std::string deep = "d";
  for (std::size_t i = 1; i < kTreeDepthMax; ++i) deep += "/d";
  EXPECT_TRUE(check_tree_path(deep).has_value());
  EXPECT_FALSE(check_tree_path(deep + "/d").has_value());
}

TEST(Manifest, CountsAreBoundedBeforeAnythingIsAllocated) {
  for (std::uint64_t count :
       {std::uint64_t{Manifest::kEntriesMax} + 1, std::uint64_t{1} << 60, std::uint64_t{100'000}}) {
    Bytes bytes;
    CborWriter out(bytes);
    out.array(2);
    out.unsigned_integer(1);
    out.array(count);
    EXPECT_FALSE(decode_manifest(bytes).has_value());
  }
  EXPECT_EQ(decode_manifest(Bytes(kContentBytesMax + 1)).error().code, ErrorCode::exhausted);
}

TEST(Manifest, OtherVersionsAndRestsAreRefused) {
  Bytes bytes = raw_manifest({file("a")});
  bytes.push_back(0);
  EXPECT_EQ(decode_manifest(bytes).error().code, ErrorCode::corrupt);
  bytes.pop_back();
  bytes[1] = 2;
  EXPECT_EQ(decode_manifest(bytes).error().code, ErrorCode::unsupported);
}

RC_GTEST_PROP(Manifest, DamagedBytesAreRefusedOrCanonical, (std::uint32_t at, std::uint8_t with)) {
  Bytes bytes = raw_manifest({file("a", 3), directory("d"), link("d/l", "../a"), file("d/x", kChunkBytes)});
  bytes[at % bytes.size()] = with;
  if (auto decoded = decode_manifest(bytes)) RC_ASSERT(*encode_manifest(*decoded) == bytes);
}

}  // namespace
}  // namespace abacus
