// Order, many threads, failures, a disk that falls behind, and a writer killed in the middle.
#include "runtime/store/group_committer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <optional>

#include "runtime/posix/fd.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

Bytes number_key(std::uint32_t number) {
  return {static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
          static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
}

class GroupCommitterTest : public testing::Test {
 protected:
  Journal open() { return std::move(Journal::open(directory_).value()); }

  TemporaryDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

TEST_F(GroupCommitterTest, AnswersInOrderAndFlushesOnShutdown) {
  std::vector<std::uint32_t> answered;
  {
    GroupCommitter committer(open());
    for (std::uint32_t i = 0; i < 1000; ++i) {
      committer.submit({{1, number_key(i), Bytes(10)}}, [&answered, i](Status status) {
        EXPECT_TRUE(status.has_value());
        answered.push_back(i);
      });
    }
  }
  ASSERT_EQ(answered.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(answered.begin(), answered.end()));
  EXPECT_EQ(open().load()->size(), 1000u);
}

TEST_F(GroupCommitterTest, TakesBatchesFromManyThreads) {
  std::atomic<int> good = 0;
  {
    GroupCommitter committer(open());
    std::vector<std::jthread> threads;
    for (std::uint16_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint32_t i = 0; i < 200; ++i) {
          committer.submit({{t, number_key(i), Bytes(3)}}, [&](Status status) { good += status ? 1 : 0; });
        }
      });
    }
  }
  EXPECT_EQ(good, 800);
  EXPECT_EQ(open().load()->size(), 800u);
}

TEST_F(GroupCommitterTest, AnAnswerMaySubmit) {
  std::promise<Status> second;
  GroupCommitter committer(open());
  committer.submit({{1, number_key(1), Bytes()}}, [&](Status) {
    committer.submit({{1, number_key(2), Bytes()}}, [&](Status status) { second.set_value(status); });
  });
  EXPECT_TRUE(second.get_future().get().has_value());
}

TEST_F(GroupCommitterTest, FailureReachesEveryWaiterAndHoldsUntilReload) {
  std::vector<Status> answers;
  std::optional<Result<std::vector<Journal::Row>>> loaded;
  std::promise<void> held, go;
  {
    GroupCommitter committer(open());
    auto keep = [&](Status status) { answers.push_back(status); };
    // Held inside the first answer, so that the next batches share one transaction.
    committer.submit({{1, number_key(0), Bytes()}}, [&](Status status) {
      keep(status);
      held.set_value();
      go.get_future().wait();
    });
    held.get_future().wait();
    committer.submit({{1, number_key(1), Bytes()}}, keep);
    committer.submit({{1, Bytes(Journal::kMaxKeyBytes + 1), Bytes()}}, keep);
    committer.submit({{1, number_key(2), Bytes()}}, keep);
    go.set_value();
    committer.reload([&](auto rows) { loaded = std::move(rows); });
    committer.submit({{1, number_key(3), Bytes()}}, keep);
  }
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_TRUE(answers[0].has_value());
  for (std::size_t i = 1; i < 4; ++i) {
    ASSERT_FALSE(answers[i].has_value());
    EXPECT_EQ(answers[i].error().code, ErrorCode::invalid);
  }
  EXPECT_TRUE(answers[4].has_value());
  ASSERT_TRUE(loaded && loaded->has_value());
  EXPECT_EQ((*loaded)->size(), 1u);
  EXPECT_EQ(open().load()->size(), 2u);
}

TEST_F(GroupCommitterTest, RefusesWhatTheDiskCannotFollow) {
  std::promise<void> held, go;
  std::optional<Status> overflow, behind;
  {
    GroupCommitter committer(open());
    committer.submit({}, [&](Status) {
      held.set_value();
      go.get_future().wait();
    });
    held.get_future().wait();
    for (std::size_t i = 0; i < 2; ++i) {
      committer.submit(std::vector<Journal::Change>(GroupCommitter::kMaxWaitingChanges - 1),
                       [&](Status s) { overflow = s; });
    }
    committer.submit({}, [&](Status s) { behind = s; });
    go.set_value();
  }
  ASSERT_TRUE(overflow && behind);
  ASSERT_FALSE(overflow->has_value());
  EXPECT_EQ(overflow->error().code, ErrorCode::exhausted);
  ASSERT_FALSE(behind->has_value());
}

/// Commits numbered rows for ever, and writes each number to `out` once its commit is acknowledged.
[[noreturn]] void write_until_killed(const std::filesystem::path& directory, int out) {
  GroupCommitter committer(std::move(Journal::open(directory).value()));
  std::atomic<std::uint32_t> answered = 0;
  for (std::uint32_t i = 0;; ++i) {
    while (i - answered > 64) std::this_thread::yield();
    committer.submit({{1, number_key(i), Bytes(200, 9)}}, [&, i](Status status) {
      Bytes line = number_key(i);
      if (!status || !write_all(out, line, "pipe")) _exit(3);
      ++answered;
    });
  }
}

TEST_F(GroupCommitterTest, KilledWriterLosesNothingAcknowledged) {
  for (int round = 0; round < 3; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      write_until_killed(directory_, ends[1]);
    }
    close(ends[1]);
    Fd reading(ends[0]);
    // Waits for real progress before the kill, then reads what was still in the pipe.
    Bytes seen = *read_up_to(reading.get(), static_cast<std::size_t>(4 * (300 + 211 * round)), "pipe");
    kill(child, SIGKILL);
    Bytes rest = *read_up_to(reading.get(), 1 << 24, "pipe");
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    std::size_t acknowledged = (seen.size() + rest.size()) / 4;
    auto rows = open().load();
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    ASSERT_GE(rows->size(), acknowledged);
    for (std::uint32_t i = 0; i < acknowledged; ++i) ASSERT_EQ((*rows)[i].key, number_key(i));
  }
}

}  // namespace
}  // namespace abacus
