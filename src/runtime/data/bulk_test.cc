// Both sides of bulk data against each other, with a transport in between that the tests disturb.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fstream>
#include <optional>

#include "base/prng.h"
#include "runtime/data/bulk_client.h"
#include "runtime/data/bulk_service.h"
#include "runtime/data/chunk.h"
#include "runtime/data/pack.h"
#include "runtime/data/run_on.h"
#include "runtime/data/unpack.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr BulkRetry kQuick{3, 1ms, 2ms};

NodeId node(std::uint8_t fill) {
  NodeId id;
  id.bytes.fill(fill);
  return id;
}

class BulkTest : public testing::Test {
 protected:
  BulkTest() {
    Prng prng(1);
    fs::create_directories(temporary_ / "in/many");
    std::string noise(5 * kChunkBytes + 17, ' ');
    for (auto& byte : noise) byte = static_cast<char>(prng.next());
    std::ofstream(temporary_ / "in/noise", std::ios::binary) << noise;
    for (int i = 0; i < 70; ++i) std::ofstream(temporary_ / fmt::format("in/many/{}", i)) << i;
    tree_ = pack(*theirs_, "job", {{temporary_ / "in", "."}}).value();
  }

  BulkService::Hooks hooks() {
    return {[this](const NodeId& peer, const Digest& manifest) { return peer == node(1) && manifest == tree_; },
            [this](const NodeId& peer, const AttemptId& attempt, LogStream stream) -> Result<LogFile> {
              if (peer != node(1)) return fail(ErrorCode::denied, "not yours");
              if (attempt.number != 1 || stream != LogStream::standard_output)
                return fail(ErrorCode::not_found, "no such log");
              return LogFile{temporary_ / "log", log_complete_};
            }};
  }

  /// The transport: each request takes a turn of the pool, as a real connection's would.
  asio::awaitable<Result<Bytes>> send(Bytes request) {
    ++requests_;
    co_return co_await run_on(pool_.get_executor(), [this, &request]() -> Result<Bytes> {
      return disturb_ ? disturb_(request) : Result<Bytes>(service_.handle(peer_, request));
    });
  }

  BulkRequestFn sender() {
    return [this](Bytes request) { return send(std::move(request)); };
  }

  template <class T>
  T await(asio::awaitable<T> work) {
    std::optional<T> result;
    asio::co_spawn(context_, std::move(work), [&](std::exception_ptr error, T value) {
      if (!error) result = std::move(value);
    });
    context_.restart();
    context_.run();
    return std::move(result.value());
  }

  Status fetch() { return await(fetch_tree(*ours_, "lease", tree_, sender(), pool_.get_executor(), kQuick)); }

  BulkResponse ask(const BulkRequest& request) {
    return decode_bulk_response(service_.handle(peer_, encode_bulk_request(request))).value();
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<ContentStore> theirs_ = std::move(ContentStore::open(temporary_ / "theirs", 1 << 30).value());
  std::unique_ptr<ContentStore> ours_ = std::move(ContentStore::open(temporary_ / "ours", 1 << 30).value());
  Digest tree_;
  bool log_complete_ = false;
  BulkService service_{*theirs_, hooks()};
  NodeId peer_ = node(1);
  std::function<Result<Bytes>(const Bytes&)> disturb_;
  std::atomic<int> requests_ = 0;
  asio::io_context context_{1};
  asio::thread_pool pool_{2};  // Last: joined before what its work refers to goes.
};

TEST_F(BulkTest, TreeArrivesWholeAndPinned) {
  Status status = fetch();
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(ours_->collect(), 0u);
  ASSERT_TRUE(unpack(*ours_, load_manifest(*ours_, tree_).value(), temporary_ / "out", UINT64_MAX).has_value());
  EXPECT_EQ(fs::file_size(temporary_ / "out/noise"), 5 * kChunkBytes + 17);
  EXPECT_EQ(*pack(*ours_, "check", {{temporary_ / "out", "."}}), tree_);
  EXPECT_THAT(ours_->owners(), testing::Contains("lease"));
}

TEST_F(BulkTest, OnlyWhatIsMissingIsAskedFor) {
  ASSERT_TRUE(fetch().has_value());
  EXPECT_LT(requests_, 10);
  requests_ = 0;
  ASSERT_TRUE(fetch().has_value());
  EXPECT_EQ(requests_, 0);
}

TEST_F(BulkTest, InterruptedFetchGoesOnWhereItStopped) {
  std::atomic<int> left = 2;
  disturb_ = [&](const Bytes& request) -> Result<Bytes> {
    if (left-- <= 0) return fail(ErrorCode::unavailable, "the connection broke");
    return service_.handle(peer_, request);
  };
  Status broken = fetch();
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::unavailable);
  EXPECT_THAT(broken.error().message, HasSubstr("after 3 attempts"));
  std::size_t kept = ours_->usage().objects;
  EXPECT_GT(kept, 1u);
  EXPECT_EQ(ours_->collect(), 0u);
  ASSERT_TRUE(ours_->unpin("lease").has_value());
  disturb_ = nullptr;
  requests_ = 0;
  ASSERT_TRUE(fetch().has_value());
  int second = requests_;
  ours_ = nullptr;
  fs::remove_all(temporary_ / "ours");
  ours_ = std::move(ContentStore::open(temporary_ / "ours", 1 << 30).value());
  requests_ = 0;
  ASSERT_TRUE(fetch().has_value());
  EXPECT_LT(second, requests_);
}

TEST_F(BulkTest, CancelledFetchKeepsWhatItHas) {
  asio::cancellation_signal cancel;
  bool ended = false;
  std::atomic<int> left = 3;
  disturb_ = [&](const Bytes& request) -> Result<Bytes> {
    if (--left == 0) asio::post(context_, [&] { cancel.emit(asio::cancellation_type::all); });
    return service_.handle(peer_, request);
  };
  asio::co_spawn(context_, fetch_tree(*ours_, "lease", tree_, sender(), pool_.get_executor(), kQuick),
                 asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr error, Status status) {
                   ended = true;
                   EXPECT_TRUE(error || !status.has_value());
                 }));
  context_.run();
  EXPECT_TRUE(ended);
  disturb_ = nullptr;
  EXPECT_GT(ours_->usage().objects, 0u);
  EXPECT_TRUE(fetch().has_value());
}

TEST_F(BulkTest, PassingTroubleIsRetried) {
  std::atomic<int> calls = 0;
  disturb_ = [&](const Bytes& request) -> Result<Bytes> {
    switch (calls++ % 3) {
      case 0: return fail(ErrorCode::timed_out, "no answer");
      case 1: return encode_bulk_response(BulkError{static_cast<std::uint8_t>(ErrorCode::unavailable), "busy"});
      default: return service_.handle(peer_, request);
    }
  };
  Status status = await(fetch_tree(*ours_, "lease", tree_, sender(), pool_.get_executor(), {50, 1ms, 1ms}));
  EXPECT_TRUE(status.has_value()) << status.error().message;
}

TEST_F(BulkTest, StrangersAreRefusedAndNotRetried) {
  peer_ = node(2);
  Status status = fetch();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::denied);
  EXPECT_EQ(requests_, 1);
  EXPECT_EQ(ours_->usage().objects, 0u);
}

TEST_F(BulkTest, ChunksOfOtherTreesAreRefused) {
  Digest secret = *theirs_->put(as_bytes("somebody else's"));
  auto response = ask(GetChunks{tree_, {secret}});
  EXPECT_EQ(std::get<BulkError>(response).error().code, ErrorCode::denied);
  EXPECT_EQ(std::get<BulkError>(ask(GetManifest{secret, 0})).error().code, ErrorCode::denied);
}

TEST_F(BulkTest, CorruptChunkOnTheWireIsRefused) {
  disturb_ = [&](const Bytes& request) -> Result<Bytes> {
    auto response = decode_bulk_response(service_.handle(peer_, request)).value();
    if (auto* part = std::get_if<ChunksPart>(&response)) part->chunks.front().frame = compress(as_bytes("forged"));
    return encode_bulk_response(response);
  };
  Status status = fetch();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::corrupt);
}

TEST_F(BulkTest, CorruptManifestOnTheWireIsRefused) {
  disturb_ = [&](const Bytes&) -> Result<Bytes> {
    Bytes other = encode_manifest({}).value();
    return encode_bulk_response(ManifestPart{other.size(), other});
  };
  EXPECT_EQ(fetch().error().code, ErrorCode::corrupt);
}

TEST_F(BulkTest, CorruptChunkAtThePeerIsItsError) {
  std::string content = "42";
  std::ofstream(temporary_ / "theirs/objects" / digest_of(as_bytes(content)).to_string()) << "junk";
  Status status = fetch();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::corrupt);
  EXPECT_THAT(status.error().message, HasSubstr(digest_of(as_bytes(content)).to_string()));
  EXPECT_EQ(fetch().error().code, ErrorCode::not_found);
}

TEST_F(BulkTest, PeersThatAnswerWithoutAnsweringAreCutOff) {
  const std::vector<Bytes> answers = {Bytes(), Bytes(100, 0xff), encode_bulk_response(ManifestPart{100, {}}),
                                      encode_bulk_response(ManifestPart{UINT64_MAX, Bytes(10)}),
                                      encode_bulk_response(LogPart{})};
  for (const Bytes& answer : answers) {
    disturb_ = [&](const Bytes&) -> Result<Bytes> { return answer; };
    EXPECT_EQ(fetch().error().code, ErrorCode::corrupt);
  }
  for (const Bytes& answer :
       {encode_bulk_response(ChunksPart{}), encode_bulk_response(ChunksPart{{{tree_, {}}}, {}})}) {
    disturb_ = [&](const Bytes& request) -> Result<Bytes> {
      bool chunks = std::holds_alternative<GetChunks>(decode_bulk_request(request).value());
      return chunks ? answer : service_.handle(peer_, request);
    };
    EXPECT_EQ(fetch().error().code, ErrorCode::corrupt);
  }
}

TEST_F(BulkTest, FullStoreIsTheFetchersError) {
  ours_ = std::move(ContentStore::open(temporary_ / "small", 2 * kChunkBytes).value());
  EXPECT_EQ(fetch().error().code, ErrorCode::exhausted);
}

TEST_F(BulkTest, ServiceSurvivesAnyBytes) {
  Prng prng(7);
  Bytes good = encode_bulk_request(GetChunks{tree_, {tree_}});
  for (int i = 0; i < 2000; ++i) {
    Bytes request = good;
    request[prng.below(request.size())] = static_cast<std::uint8_t>(prng.next());
    if (prng.chance(1, 4)) request.resize(prng.below(request.size()));
    EXPECT_TRUE(decode_bulk_response(service_.handle(peer_, request)).has_value());
  }
  auto huge = decode_bulk_response(service_.handle(peer_, Bytes(limits::kBulkRequestBytes + 1)));
  EXPECT_EQ(std::get<BulkError>(*huge).error().code, ErrorCode::exhausted);
}

TEST_F(BulkTest, LogsAreReadInStretchesToTheirEnd) {
  std::ofstream(temporary_ / "log") << "hello world";
  ReadLog request{{{}, 1}, LogStream::standard_output, 0, 5};
  auto first = await(read_log(sender(), request, kQuick));
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(as_text(first->bytes), "hello");
  EXPECT_EQ(first->size, 11u);
  request.offset = 5;
  request.bytes_max = 1000;
  EXPECT_FALSE(await(read_log(sender(), request, kQuick))->end);
  log_complete_ = true;
  auto last = await(read_log(sender(), request, kQuick));
  EXPECT_EQ(as_text(last->bytes), " world");
  EXPECT_TRUE(last->end);
  request.offset = UINT64_MAX;
  EXPECT_TRUE(await(read_log(sender(), request, kQuick))->bytes.empty());
  request.stream = LogStream::standard_error;
  EXPECT_EQ(await(read_log(sender(), request, kQuick)).error().code, ErrorCode::not_found);
  peer_ = node(2);
  EXPECT_EQ(await(read_log(sender(), request, kQuick)).error().code, ErrorCode::denied);
}

TEST_F(BulkTest, LogLongerThanAskedForIsRefused) {
  disturb_ = [&](const Bytes&) -> Result<Bytes> { return encode_bulk_response(LogPart{Bytes(6), 6, true}); };
  auto part = await(read_log(sender(), ReadLog{{{}, 1}, LogStream::standard_output, 0, 5}, kQuick));
  ASSERT_FALSE(part.has_value());
  EXPECT_EQ(part.error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace abacus
