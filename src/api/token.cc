// Token files.
#include "api/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"

namespace abacus {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kMaxFileBytes = 1024;

Error file_error(const std::string& path) {
  ErrorCode code = errno == ENOENT ? ErrorCode::not_found : errno == EACCES ? ErrorCode::denied : ErrorCode::internal;
  return {code, fmt::format("the API token {}: {}", path, std::strerror(errno))};
}

Result<std::string> read_token(int fd, const std::string& path) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return fail(file_error(path));
  if ((info.st_mode & 077) != 0) {
    return fail(ErrorCode::denied, "the API token {} can be read by others: want mode 0600 (chmod 600 {})", path, path);
  }
  std::string text(kMaxFileBytes, '\0');
  ssize_t size = read(fd, text.data(), text.size());
  if (size < 0) return fail(file_error(path));
  text.resize(static_cast<std::size_t>(size));
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  if (text.size() < 16 || text.find_first_of(" \r\n\t") != std::string::npos) {
    return fail(ErrorCode::corrupt, "the API token {} holds no token: delete the file and restart the agent", path);
  }
  return text;
}

Result<std::string> make_token(const std::string& path) {
  std::array<std::uint8_t, kTokenBytes> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) return fail(file_error(path));
  std::string token = to_hex(random);
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fail(file_error(path));
  std::string line = token + "\n";
  bool written = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  Error error = file_error(path);
  close(fd);
  if (!written) return fail(error);
  return token;
}

}  // namespace

Result<std::string> load_api_token(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(file_error(path));
  auto token = read_token(fd, path);
  close(fd);
  return token;
}

Result<std::string> load_or_make_api_token(const std::string& path) {
  auto token = load_api_token(path);
  if (token || token.error().code != ErrorCode::not_found) return token;
  return make_token(path);
}

bool same_secret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i % secret.size()]);
  }
  return difference == 0;
}

}  // namespace abacus
