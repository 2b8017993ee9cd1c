// Files are replaced by writing aside, syncing and renaming; a secret that others can read is refused.
#include "runtime/net/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace abacus {
namespace {

constexpr std::size_t kMaxSmallFileBytes = 1 << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> file_error(const char* what, const std::filesystem::path& path) {
  int error = errno;
  ErrorCode code = error == ENOENT                                       ? ErrorCode::not_found
                   : error == EACCES || error == EPERM || error == EROFS ? ErrorCode::denied
                                                                         : ErrorCode::internal;
  return fail(code, "cannot {} {}: {}", what, path.string(), std::strerror(error));
}

Result<std::string> read_open_file(int fd, const std::filesystem::path& path) {
  std::string text;
  char buffer[4096];
  for (;;) {
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("read", path);
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMaxSmallFileBytes) {
      return fail(ErrorCode::invalid, "{} is larger than {} bytes", path.string(), kMaxSmallFileBytes);
    }
  }
}

Status write_all(int fd, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return file_error("write", path);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status sync_folder(const std::filesystem::path& folder) {
  Descriptor fd(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || fsync(fd.get()) != 0) return file_error("sync", folder);
  return {};
}

}  // namespace

Result<std::string> read_small_file(const std::filesystem::path& path) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return file_error("open", path);
  return read_open_file(fd.get(), path);
}

Result<std::string> read_secret_file(const std::filesystem::path& path) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return file_error("open", path);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return file_error("stat", path);
  if ((info.st_mode & 077) != 0) {
    return fail(ErrorCode::denied, "{} holds a secret but has mode {:04o}: run `chmod 600 {}`", path.string(),
                info.st_mode & 07777u, path.string());
  }
  return read_open_file(fd.get(), path);
}

Status write_small_file(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  std::filesystem::path fresh = path;
  fresh += ".new";
  unlink(fresh.c_str());
  {
    Descriptor fd(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (fd.get() < 0) return file_error("create", fresh);
    TRY_STATUS(write_all(fd.get(), text, fresh));
    if (fsync(fd.get()) != 0) return file_error("sync", fresh);
  }
  if (rename(fresh.c_str(), path.c_str()) != 0) return file_error("rename to", path);
  return sync_folder(path.parent_path());
}

Status make_private_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  if (!path.parent_path().empty()) std::filesystem::create_directories(path.parent_path(), error);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return file_error("make the folder", path);
  return {};
}

Result<FileLock> FileLock::take(const std::filesystem::path& path) {
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return file_error("open", path);
  while (flock(fd, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    auto error = file_error("lock", path);
    close(fd);
    return error;
  }
  return FileLock(fd);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace abacus
