// The store against reopening, damage, crashes, a full cap and many threads.
#include "runtime/data/content_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/prng.h"
#include "runtime/data/chunk.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kRoomy = 1 << 30;

/// Does not compress, so that sizes on disk are predictable.
Bytes noise(std::uint64_t seed, std::size_t size) {
  Prng prng(seed);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(prng.next());
  return bytes;
}

class ContentStoreTest : public testing::Test {
 protected:
  std::unique_ptr<ContentStore> open(std::uint64_t cap = kRoomy) {
    auto store = ContentStore::open(temporary_.path(), cap);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }

  void overwrite(const Digest& digest, BytesView bytes) {
    std::ofstream out(temporary_ / "objects" / digest.to_string(), std::ios::binary);
    out << as_text(bytes);
  }

  TemporaryDirectory temporary_;
};

TEST_F(ContentStoreTest, GivesBackWhatWasPutAlsoAfterReopening) {
  Bytes content = noise(1, 3000), zeros(kChunkBytes), empty;
  std::vector<Digest> digests;
  {
    auto store = open();
    for (const Bytes& bytes : {content, zeros, empty}) digests.push_back(*store->put(bytes));
    EXPECT_EQ(digests[0], digest_of(content));
    EXPECT_EQ(*store->put(content), digests[0]);
    EXPECT_EQ(store->usage().objects, 3u);
  }
  auto store = open();
  EXPECT_EQ(*store->get(digests[0]), content);
  EXPECT_EQ(*store->get(digests[1]), zeros);
  EXPECT_EQ(*store->get(digests[2]), empty);
  EXPECT_LT(store->usage().bytes, 5000u);
  EXPECT_EQ(*decompress(*store->get_frame(digests[1]), kChunkBytes), zeros);
}

TEST_F(ContentStoreTest, UnknownContentIsNotFound) {
  auto store = open();
  EXPECT_FALSE(store->has(digest_of(as_bytes("x"))));
  EXPECT_EQ(store->get(digest_of(as_bytes("x"))).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->put(Bytes(kContentBytesMax + 1)).error().code, ErrorCode::invalid);
}

TEST_F(ContentStoreTest, CorruptObjectIsSetAsideAndCanBePutAgain) {
  auto store = open();
  Bytes content = noise(2, 5000);
  Digest digest = *store->put(content);
  for (const Bytes& damage : {compress(noise(3, 5000)), Bytes(10, 1), Bytes()}) {
    overwrite(digest, damage);
    auto got = store->get(digest);
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, ErrorCode::corrupt);
    EXPECT_THAT(got.error().message, HasSubstr(digest.to_string()));
    EXPECT_FALSE(store->has(digest));
    EXPECT_TRUE(std::filesystem::exists(temporary_ / "damaged" / digest.to_string()));
    EXPECT_EQ(*store->put(content), digest);
    EXPECT_EQ(*store->get(digest), content);
  }
}

TEST_F(ContentStoreTest, VanishedFileIsAnErrorAndThenForgotten) {
  auto store = open();
  Digest digest = *store->put(noise(2, 5000));
  std::filesystem::remove(temporary_ / "objects" / digest.to_string());
  EXPECT_EQ(store->get(digest).error().code, ErrorCode::not_found);
  EXPECT_FALSE(store->has(digest));
  EXPECT_EQ(store->usage().bytes, 0u);
}

TEST_F(ContentStoreTest, FramesFromElsewhereAreVerified) {
  auto store = open();
  Bytes content = noise(4, 100);
  EXPECT_EQ(store->put_frame(digest_of(content), compress(noise(5, 100))).error().code, ErrorCode::corrupt);
  EXPECT_EQ(store->put_frame(digest_of(content), content).error().code, ErrorCode::corrupt);
  Bytes two = compress(content), trailing = two;
  trailing.push_back(0);
  EXPECT_EQ(store->put_frame(digest_of(content), trailing).error().code, ErrorCode::corrupt);
  Bytes bomb = compress(Bytes(kContentBytesMax + 1));
  EXPECT_LT(bomb.size(), 10'000u);
  EXPECT_EQ(store->put_frame(digest_of(content), bomb).error().code, ErrorCode::corrupt);
  EXPECT_TRUE(store->put_frame(digest_of(content), two).has_value());
  EXPECT_EQ(*store->get(digest_of(content)), content);
}

TEST_F(ContentStoreTest, CollectKeepsWhatAnyoneNeeds) {
  auto store = open();
  Digest a = *store->put(noise(1, 1000)), b = *store->put(noise(2, 1000)), c = *store->put(noise(3, 1000));
  ASSERT_TRUE(store->pin("job 1", std::vector{a, b}).has_value());
  ASSERT_TRUE(store->pin("job 2", std::vector{b}).has_value());
  EXPECT_GT(store->collect(), 900u);
  EXPECT_FALSE(store->has(c));
  EXPECT_TRUE(store->has(a) && store->has(b));
  ASSERT_TRUE(store->unpin("job 1").has_value());
  store->collect();
  EXPECT_FALSE(store->has(a));
  EXPECT_TRUE(store->has(b));
  ASSERT_TRUE(store->unpin("job 2").has_value());
  ASSERT_TRUE(store->unpin("job 2").has_value());
  store->collect();
  EXPECT_EQ(store->usage().objects, 0u);
  EXPECT_EQ(store->usage().bytes, 0u);
}

TEST_F(ContentStoreTest, PinsSurviveARestart) {
  Digest a, b;
  {
    auto store = open();
    a = *store->put(noise(1, 1000));
    b = *store->put(noise(2, 1000));
    ASSERT_TRUE(store->pin("first", std::vector{a}).has_value());
    ASSERT_TRUE(store->pin("first", std::vector{b}).has_value());
    ASSERT_TRUE(store->pin("gone", std::vector{b}).has_value());
    ASSERT_TRUE(store->unpin("gone").has_value());
  }
  auto store = open();
  EXPECT_THAT(store->owners(), testing::ElementsAre("first"));
  EXPECT_EQ(store->collect(), 0u);
  EXPECT_TRUE(store->has(a) && store->has(b));
  EXPECT_EQ(store->usage().pinned_bytes, store->usage().bytes);
}

TEST_F(ContentStoreTest, DamagedPinListIsAnError) {
  ASSERT_TRUE(open()->pin("me", std::vector{digest_of(as_bytes("x"))}).has_value());
  auto file = temporary_ / "pins" / to_hex(as_bytes("me"));
  std::ofstream(file, std::ios::app) << "y";
  auto store = ContentStore::open(temporary_.path(), kRoomy);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::corrupt);
  EXPECT_THAT(store.error().message, HasSubstr(file.string()));
}

TEST_F(ContentStoreTest, OwnerNamesAreBounded) {
  auto store = open();
  EXPECT_EQ(store->pin("", {}).error().code, ErrorCode::invalid);
  EXPECT_EQ(store->pin(std::string(101, 'x'), {}).error().code, ErrorCode::invalid);
  EXPECT_TRUE(store->pin("../../etc/" + std::string(90, 'x'), {}).has_value());
}

TEST_F(ContentStoreTest, EvictsTheLeastRecentlyUsedWhenRoomIsNeeded) {
  auto store = open(100'000);
  Digest old = *store->put(noise(1, 30'000)), used = *store->put(noise(2, 30'000)),
         third = *store->put(noise(3, 30'000));
  EXPECT_TRUE(store->has(old));
  EXPECT_TRUE(store->has(used));
  Digest fourth = *store->put(noise(4, 30'000));
  EXPECT_FALSE(store->has(third));
  EXPECT_TRUE(store->has(old) && store->has(used) && store->has(fourth));
  EXPECT_LE(store->usage().bytes, 100'000u);
}

TEST_F(ContentStoreTest, FullOfPinnedContentIsExhausted) {
  auto store = open(100'000);
  std::vector<Digest> digests = {*store->put(noise(1, 45'000)), *store->put(noise(2, 45'000))};
  ASSERT_TRUE(store->pin("job", digests).has_value());
  auto put = store->put(noise(3, 45'000));
  ASSERT_FALSE(put.has_value());
  EXPECT_EQ(put.error().code, ErrorCode::exhausted);
  EXPECT_THAT(put.error().message, HasSubstr("100000"));
  EXPECT_TRUE(store->has(digests[0]) && store->has(digests[1]));
  ASSERT_TRUE(store->unpin("job").has_value());
  EXPECT_TRUE(store->put(noise(3, 45'000)).has_value());
}

TEST_F(ContentStoreTest, HeldContentIsNotEvicted) {
  auto store = open(100'000);
  Digest before = *store->put(noise(1, 45'000));
  {
    ContentStore::Hold hold(*store);
    Digest during = *store->put(noise(2, 45'000));
    EXPECT_TRUE(store->put(noise(3, 45'000)).has_value());
    EXPECT_FALSE(store->has(before));
    EXPECT_EQ(store->put(noise(4, 45'000)).error().code, ErrorCode::exhausted);
    EXPECT_TRUE(store->has(during));
  }
  EXPECT_TRUE(store->put(noise(4, 45'000)).has_value());
}

TEST_F(ContentStoreTest, ObjectTornByACrashIsNotReliedOn) {
  Bytes content = noise(1, 5000);
  Digest digest = *open()->put(content);
  overwrite(digest, Bytes(100));
  auto store = open();
  EXPECT_EQ(*store->put(content), digest);
  EXPECT_EQ(*store->get(digest), content);
  overwrite(digest, Bytes());
  EXPECT_FALSE(open()->has(digest));
}

TEST_F(ContentStoreTest, PinsFewAndManyAtOnce) {
  auto store = open();
  for (std::size_t count : {1u, 20u}) {
    std::vector<Digest> digests;
    for (std::size_t i = 0; i < count; ++i) digests.push_back(*store->put(noise(i, 100)));
    EXPECT_TRUE(store->pin(std::to_string(count), digests).has_value());
  }
  EXPECT_EQ(store->collect(), 0u);
}

TEST_F(ContentStoreTest, UnfinishedWritesGoAtOpen) {
  { open(); }
  std::ofstream(temporary_ / "tmp" / "7") << "half";
  open();
  EXPECT_TRUE(std::filesystem::is_empty(temporary_ / "tmp"));
}

TEST_F(ContentStoreTest, ManyThreadsPutGetPinAndCollect) {
  auto store = open();
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 30; ++i) {
          ContentStore::Hold hold(*store);
          Bytes content = noise(i, 2000);
          Digest digest = store->put(content).value();
          EXPECT_EQ(store->get(digest).value(), content);
          std::string owner = fmt::format("{}-{}", t, i);
          EXPECT_TRUE(store->pin(owner, std::vector{digest}).has_value());
          bool drop = i % 2 == 0;
          EXPECT_TRUE(!drop || store->unpin(owner).has_value());
          if (i % 5 == 0) store->collect();
        }
      });
    }
  }
  store->collect();
  EXPECT_EQ(store->usage().objects, 15u);
  EXPECT_EQ(store->usage().pinned_bytes, store->usage().bytes);
}

}  // namespace
}  // namespace abacus
