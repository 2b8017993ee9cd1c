// The journal against damage, foreign files, newer versions, a full disk and a second opener.
#include "runtime/store/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

using testing::HasSubstr;

Bytes bytes(std::string_view text) { return {text.begin(), text.end()}; }

Journal::Change set(std::uint16_t kind, std::string_view key, std::string_view value) {
  return {kind, bytes(key), bytes(value)};
}

class JournalTest : public testing::Test {
 protected:
  Journal open() {
    auto journal = Journal::open(directory_);
    if (!journal) throw std::runtime_error(journal.error().message);
    return std::move(*journal);
  }

  void run_sql(const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory_ / "journal.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

TEST_F(JournalTest, KeepsRowsInOrderOfKindAndKey) {
  {
    Journal journal = open();
    std::vector<Journal::Change> changes = {set(2, "a", "1"), set(1, "b", "2"), set(1, "a\xff", "3"), set(1, "a", ""),
                                            set(256, "", "5")};
    ASSERT_TRUE(journal.commit(changes).has_value());
  }
  auto rows = open().load();
  ASSERT_TRUE(rows.has_value());
  std::vector<Journal::Row> expected = {{1, bytes("a"), {}},
                                        {1, bytes("a\xff"), bytes("3")},
                                        {1, bytes("b"), bytes("2")},
                                        {2, bytes("a"), bytes("1")},
                                        {256, {}, bytes("5")}};
  EXPECT_EQ(*rows, expected);
}

TEST_F(JournalTest, ReplacesAndErases) {
  Journal journal = open();
  ASSERT_TRUE(journal.commit(std::vector{set(1, "keep", "old"), set(1, "drop", "x")}).has_value());
  ASSERT_TRUE(
      journal.commit(std::vector{set(1, "keep", "new"), {1, bytes("drop"), {}}, {9, bytes("never"), {}}}).has_value());
  auto rows = journal.load();
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(*rows, (std::vector<Journal::Row>{{1, bytes("keep"), bytes("new")}}));
}

TEST_F(JournalTest, LaterChangesOfOneTransactionWin) {
  Journal journal = open();
  ASSERT_TRUE(journal.commit(std::vector{set(1, "k", "1"), {1, bytes("k"), {}}, set(1, "k", "2")}).has_value());
  EXPECT_EQ(journal.load()->front().value, bytes("2"));
}

TEST_F(JournalTest, OversizedRecordChangesNothing) {
  Journal journal = open();
  std::vector<Journal::Change> changes = {set(1, "fine", "1"), {1, Bytes(Journal::kMaxKeyBytes + 1), Bytes()}};
  auto status = journal.commit(changes);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::invalid);
  EXPECT_TRUE(journal.load()->empty());
}

TEST_F(JournalTest, SecondOpenerIsToldWhoHoldsTheDirectory) {
  {
    Journal journal = open();
    auto second = Journal::open(directory_);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, ErrorCode::already_exists);
    EXPECT_THAT(second.error().message, HasSubstr(fmt::format("process {}", getpid())));
    EXPECT_THAT(second.error().message, HasSubstr(directory_.string()));
  }
  EXPECT_TRUE(Journal::open(directory_).has_value());
}

TEST_F(JournalTest, DirectoryWithoutWritePermissionIsDenied) {
  chmod(directory_.c_str(), 0555);
  bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  auto journal = Journal::open(directory_);
  auto below = Journal::open(directory_ / "new");
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  chmod(directory_.c_str(), 0755);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().code, ErrorCode::denied);
  EXPECT_THAT(journal.error().message, HasSubstr("writable"));
  ASSERT_FALSE(below.has_value());
  EXPECT_EQ(below.error().code, ErrorCode::denied);
}

TEST_F(JournalTest, FlippedByteInAValueIsFoundAndNamed) {
  ASSERT_TRUE(open().commit(std::vector{set(7, "victim", "precious-content"), set(7, "other", "x")}).has_value());
  std::string content = read_file(directory_ / "journal.db");
  std::size_t at = content.find("precious-content");
  ASSERT_NE(at, std::string::npos);
  content[at + 3] ^= 1;
  std::ofstream(directory_ / "journal.db", std::ios::binary) << content;
  auto rows = open().load();
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().code, ErrorCode::corrupt);
  EXPECT_THAT(rows.error().message, HasSubstr(to_hex(bytes("victim"))));
}

TEST_F(JournalTest, DamagedPageIsFoundAtOpen) {
  Journal::Change big = {1, bytes("k"), Bytes(100'000, 1)};
  ASSERT_TRUE(open().commit(std::vector{big}).has_value());
  std::string content = read_file(directory_ / "journal.db");
  std::fill(content.begin() + 4096, content.begin() + 5000, '\xa5');
  std::ofstream(directory_ / "journal.db", std::ios::binary) << content;
  auto journal = Journal::open(directory_);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().code, ErrorCode::corrupt);
}

TEST_F(JournalTest, FileThatIsNoDatabaseIsCorrupt) {
  std::ofstream(directory_ / "journal.db") << std::string(8192, 'z');
  auto journal = Journal::open(directory_);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().code, ErrorCode::corrupt);
}

TEST_F(JournalTest, NewerSchemaIsRefused) {
  { open(); }
  run_sql("UPDATE schema SET version = 99");
  auto journal = Journal::open(directory_);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().code, ErrorCode::unsupported);
  EXPECT_THAT(journal.error().message, HasSubstr("99"));
}

TEST_F(JournalTest, ForeignDatabaseIsRefusedAndLeftAlone) {
  run_sql("CREATE TABLE theirs(x)");
  auto journal = Journal::open(directory_);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().code, ErrorCode::invalid);
  run_sql("INSERT INTO theirs VALUES(1)");
}

/// Commits values until the file system refuses, then shows that what was acknowledged is still there.
void fill_until_refused(Journal& journal, testing::Matcher<ErrorCode> expected) {
  std::size_t acknowledged = 0;
  Status status;
  for (int i = 0; i < 200 && status; ++i) {
    status = journal.commit(std::vector<Journal::Change>{{1, bytes(fmt::format("{:04}", i)), Bytes(64 * 1024, 5)}});
    if (status) ++acknowledged;
  }
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().code, expected) << status.error().message;
  auto rows = journal.load();
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->size(), acknowledged);
  EXPECT_GT(acknowledged, 0u);
}

TEST_F(JournalTest, RefusedWriteLosesNothing) {
  Journal journal = open();
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  fill_until_refused(journal, testing::AnyOf(ErrorCode::internal, ErrorCode::exhausted));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(journal.commit(std::vector{set(2, "after", "room again")}).has_value());
}

TEST_F(JournalTest, FullDiskIsExhaustedAndLosesNothing) {
  auto mounted = directory_ / "small";
  std::filesystem::create_directory(mounted);
  if (mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=2m") != 0) GTEST_SKIP() << "no permission to mount a tmpfs";
  {
    auto journal = Journal::open(mounted);
    ASSERT_TRUE(journal.has_value());
    fill_until_refused(*journal, ErrorCode::exhausted);
  }
  {
    auto journal = Journal::open(mounted);
    EXPECT_TRUE(journal.has_value() && journal->load().has_value());
  }
  EXPECT_EQ(umount(mounted.c_str()), 0);
}

}  // namespace
}  // namespace abacus
