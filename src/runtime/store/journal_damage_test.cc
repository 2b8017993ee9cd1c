// Damage to each part of a journal's files: it opens with all that was committed, or says which file and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/posix/temporary_directory.h"
#include "runtime/store/journal.h"

namespace abacus {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

Bytes value_of(int number) { return Bytes(200, static_cast<std::uint8_t>(number)); }

Journal::Change change_of(int number) {
  return {static_cast<std::uint16_t>(number % 3),
          {static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)},
          value_of(number)};
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// 600 rows in some forty pages, of which the log holds few: pages that it holds too may be damaged without harm.
/// A directory as a killed agent leaves it: the latest transactions are only in the log.
class JournalDamage : public testing::Test {
 protected:
  static constexpr int kInDatabase = 600, kInLog = 12;

  JournalDamage() {
    {
      Journal first = Journal::open(living_).value();
      commit(first, 0, kInDatabase / 2);
      commit(first, kInDatabase / 2, kInDatabase);
    }
    Journal second = Journal::open(living_).value();
    older_log_ = read_file(living_ / "journal.db-wal");
    for (int i = kInDatabase; i < kInDatabase + kInLog; ++i) commit(second, i, i + 1);
    whole_ = second.load().value();
    fs::copy(living_, killed_, fs::copy_options::recursive);  // While it is open: nothing was moved or tidied.
  }

  static void commit(Journal& journal, int from, int to) {
    std::vector<Journal::Change> changes;
    for (int i = from; i < to; ++i) changes.push_back(change_of(i));
    ASSERT_TRUE(journal.commit(changes).has_value());
  }

  /// The killed agent's files once more, to be damaged.
  void restore_files() {
    fs::remove_all(damaged_);
    fs::copy(killed_, damaged_, fs::copy_options::recursive);
  }

  Result<std::vector<Journal::Row>> start() {
    TRY(Journal journal, Journal::open(damaged_));
    return journal.load();
  }

  /// Either nothing is missing, or the error names the file and what to do. True for the former.
  bool whole_or_refused() {
    auto rows = start();
    if (rows) {
      EXPECT_TRUE(*rows == whole_) << rows->size() << " rows instead of " << whole_.size();
      return true;
    }
    EXPECT_THAT(rows.error().message, HasSubstr("journal"));
    if (rows.error().code == ErrorCode::corrupt) {
      EXPECT_THAT(rows.error().message, HasSubstr("restore all of it"));
    }
    return false;
  }

  std::string error() {
    auto rows = start();
    return rows ? "no error" : rows.error().message;
  }

  TemporaryDirectory temporary_;
  const fs::path living_ = temporary_.path() / "living", killed_ = temporary_.path() / "killed",
                 damaged_ = temporary_.path() / "damaged";
  std::vector<Journal::Row> whole_;
  std::string older_log_;
};

TEST_F(JournalDamage, WhatAKilledAgentLeavesIsWhole) {
  ASSERT_GT(fs::file_size(killed_ / "journal.db-wal"), 0u);
  restore_files();
  EXPECT_TRUE(whole_or_refused());
  EXPECT_TRUE(whole_or_refused()) << "again, after the log was moved into the database";
}

TEST_F(JournalDamage, AFlippedByteAnywhereInTheDatabaseLosesNothingUnsaid) {
  const std::string content = read_file(killed_ / "journal.db");
  int found = 0;
  for (std::size_t at = 0; at < content.size(); at += at < 100 ? 1 : 509) {
    restore_files();
    std::string flipped = content;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    write_file(damaged_ / "journal.db", flipped);
    SCOPED_TRACE(fmt::format("byte {}", at));
    if (!whole_or_refused()) ++found;
  }
  EXPECT_GT(found, 50);
}

TEST_F(JournalDamage, AFlippedByteAnywhereInTheLogLosesNothingUnsaid) {
  const std::string content = read_file(killed_ / "journal.db-wal");
  int found = 0;
  for (std::size_t at = 0; at < content.size(); at += at < 100 ? 3 : 509) {
    restore_files();
    std::string flipped = content;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    write_file(damaged_ / "journal.db-wal", flipped);
    SCOPED_TRACE(fmt::format("byte {}", at));
    if (!whole_or_refused()) ++found;
  }
  EXPECT_GT(found, 50);
}

TEST_F(JournalDamage, FilesCutShortLoseNothingUnsaid) {
  int found = 0;
  for (const char* name : {"journal.db", "journal.db-wal"}) {
    const std::string content = read_file(killed_ / name);
    for (std::size_t bytes = 0; bytes < content.size(); bytes += 5'000) {
      restore_files();
      fs::resize_file(damaged_ / name, bytes);
      SCOPED_TRACE(fmt::format("{} cut to {} bytes", name, bytes));
      if (!whole_or_refused()) ++found;
    }
  }
  EXPECT_GT(found, 20);
}

TEST_F(JournalDamage, ALogThatIsGoneOrOfAnotherTimeIsMissed) {
  restore_files();
  fs::remove(damaged_ / "journal.db-wal");
  EXPECT_THAT(error(), AllOf(HasSubstr("holds 2 transactions, but 14 were committed"), HasSubstr("journal.db")));
  restore_files();
  write_file(damaged_ / "journal.db-wal", older_log_);
  EXPECT_THAT(error(), HasSubstr("14 were committed"));
}

TEST_F(JournalDamage, ADatabaseThatIsGoneIsMissed) {
  restore_files();
  fs::remove(damaged_ / "journal.db");
  EXPECT_THAT(error(), HasSubstr("holds 0 transactions, but 14 were committed"));
  EXPECT_GT(fs::file_size(damaged_ / "journal.db-wal"), 0u) << "what is left is left as it is";
}

TEST_F(JournalDamage, ARefusalLeavesTheFilesAsTheyAre) {
  restore_files();
  std::string log = read_file(damaged_ / "journal.db-wal");
  log[log.size() / 2] ^= 1;
  write_file(damaged_ / "journal.db-wal", log);
  const std::string database = read_file(damaged_ / "journal.db");
  EXPECT_THAT(error(), HasSubstr("14 were committed"));
  EXPECT_THAT(error(), HasSubstr("14 were committed")) << "also at the next try";
  EXPECT_TRUE(read_file(damaged_ / "journal.db-wal") == log);
  EXPECT_TRUE(read_file(damaged_ / "journal.db") == database);
}

TEST_F(JournalDamage, ADamagedMarkIsNamedAndARemovedOneIsConsent) {
  for (std::uintmax_t bytes : {0u, 7u, 23u}) {
    restore_files();
    fs::resize_file(damaged_ / "journal.mark", bytes);
    EXPECT_THAT(error(), HasSubstr("journal.mark is damaged"));
  }
  restore_files();
  std::string mark = read_file(damaged_ / "journal.mark");
  mark[0] ^= 1;
  write_file(damaged_ / "journal.mark", mark);
  EXPECT_THAT(error(), HasSubstr("journal.mark is damaged"));
  fs::remove(damaged_ / "journal.mark");
  fs::remove(damaged_ / "journal.db-wal");
  auto rows = start();
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->size(), 600u);
}

}  // namespace
}  // namespace abacus
