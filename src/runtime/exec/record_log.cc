// Entries with checksums: appended, synced, read back, compacted.
#include "runtime/exec/record_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace abacus {
namespace {

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kFillBytes = 64 * 1024;  ///< Some four hundred records.
constexpr std::size_t kCompactAbove = 4096;    ///< Entries; below this a rewrite is not worth its sync.

std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t hash = 2166136261u;
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 16777619u;
  return hash;
}

std::uint32_t read_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

void append_u32(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void append_entry(std::string& out, const wire::Message& message) {
  std::string frame;
  wire::encode(message, frame);
  std::string_view content = std::string_view(frame).substr(4);
  append_u32(out, static_cast<std::uint32_t>(content.size()));
  append_u32(out, checksum(content));
  out.append(content);
}

std::string read_all(int fd) {
  std::string bytes;
  char block[65536];
  for (ssize_t n; (n = ::read(fd, block, sizeof block)) > 0;) bytes.append(block, static_cast<std::size_t>(n));
  return bytes;
}

bool write_all(int fd, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno != EINTR) return false;
    if (n <= 0) continue;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  return true;
}

bool sync_parent(const std::string& path) {
  std::size_t slash = path.rfind('/');
  std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int fd = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = ::fsync(fd) == 0;
  ::close(fd);
  return done;
}

std::size_t parse_into(std::string_view bytes, RecordMap& records, std::size_t& entries) {
  std::size_t at = 0;
  while (bytes.size() - at >= kHeaderBytes) {
    std::size_t length = read_u32(bytes, at);
    if (length > wire::kMaxFrameBytes || bytes.size() - at - kHeaderBytes < length) break;
    std::string_view content = bytes.substr(at + kHeaderBytes, length);
    if (checksum(content) != read_u32(bytes, at + 4)) break;
    auto message = wire::decode(content);
    if (!message) break;
    if (auto* ended = std::get_if<wire::Ended>(&*message)) records[ended->attempt] = ended->record;
    if (auto* forget = std::get_if<wire::Forget>(&*message)) records.erase(forget->attempt);
    at += kHeaderBytes + length;
    ++entries;
  }
  return at;
}

}  // namespace

RecordMap parse_records(std::string_view bytes, std::size_t* good_bytes) {
  RecordMap records;
  std::size_t entries = 0;
  std::size_t good = parse_into(bytes, records, entries);
  if (good_bytes != nullptr) *good_bytes = good;
  return records;
}

RecordMap read_records(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string bytes = read_all(fd);
  ::close(fd);
  return parse_records(bytes);
}

RecordLog::~RecordLog() {
  if (fd_ >= 0) ::close(fd_);
}

bool RecordLog::open(const std::string& path) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0) return false;
  std::string bytes = read_all(fd_);
  std::size_t good = parse_into(bytes, records_, entries_);
  if (good < bytes.size() && ::ftruncate(fd_, static_cast<off_t>(good)) != 0) return false;
  end_ = filled_ = good;
  return ::fsync(fd_) == 0 && sync_parent(path);
}

void RecordLog::add(const AttemptId& attempt, const ExitRecord& record) {
  records_[attempt] = record;
  append_entry(pending_, wire::Ended{attempt, record});
  ++entries_;
}

void RecordLog::forget(const AttemptId& attempt) {
  if (records_.erase(attempt) == 0) return;
  append_entry(pending_, wire::Forget{attempt, {}});
  ++entries_;
}

bool RecordLog::commit() {
  if (entries_ > kCompactAbove && entries_ > 4 * records_.size()) return compact();
  if (pending_.empty()) return true;
  // A write that fails leaves a torn entry where the next try writes, or nothing.
  if (!fill_ahead(end_ + pending_.size()) || !write_all(fd_, pending_, end_) || ::fdatasync(fd_) != 0) return false;
  end_ += pending_.size();
  pending_.clear();
  return true;
}

bool RecordLog::fill_ahead(std::uint64_t needed) {
  if (needed <= filled_) return true;
  std::string zeros(needed - filled_ + kFillBytes, '\0');
  if (!write_all(fd_, zeros, filled_) || ::fsync(fd_) != 0) return false;
  filled_ += zeros.size();
  return true;
}

bool RecordLog::compact() {
  std::string content;
  for (const auto& [attempt, record] : records_) append_entry(content, wire::Ended{attempt, record});
  std::string fresh = path_ + ".new";
  int fd = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  if (!write_all(fd, content, 0) || ::fsync(fd) != 0 || ::rename(fresh.c_str(), path_.c_str()) != 0 ||
      !sync_parent(path_)) {
    ::close(fd);
    return false;
  }
  ::close(fd_);
  fd_ = fd;
  pending_.clear();
  entries_ = records_.size();
  end_ = filled_ = content.size();
  return true;
}

}  // namespace abacus
