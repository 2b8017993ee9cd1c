// abacus-shim: keeps one lease's tasks. Started by the agent, outlives it, and is found again by the lease's name.
//
//   abacus-shim --lease=HEX --directory=PATH --deadline-ns=N --orphan-limit-ns=N --slots=N [--cgroup=v1:cpu:PATH]...
//
// Descriptor 3 is a listening unix socket. For agents only; the protocol is in runtime/exec/wire.h.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/exec/shim/server.h"

namespace abacus::shim {
namespace {

constexpr int kListenFd = 3;

template <class T>
bool parse_number(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_lease(std::string_view text, LeaseId& lease) {
  if (text.size() != 2 * LeaseId::kSize) return false;
  for (std::size_t i = 0; i < LeaseId::kSize; ++i) {
    auto [end, error] = std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, lease.bytes[i], 16);
    if (error != std::errc{} || end != text.data() + 2 * i + 2) return false;
  }
  return true;
}

bool parse_cgroup(std::string_view text, ServerOptions& options) {
  auto branch = CgroupBranch::parse(text);
  if (branch) options.branches.push_back(*branch);
  return branch.has_value();
}

bool parse_argument(std::string_view argument, ServerOptions& options) {
  std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return false;
  std::string_view name = argument.substr(0, equals), value = argument.substr(equals + 1);
  if (name == "--lease") return options.lease_text = value, parse_lease(value, options.lease);
  if (name == "--directory") return options.directory = value, value.starts_with("/");
  if (name == "--deadline-ns") return parse_number(value, options.deadline.ns);
  if (name == "--orphan-limit-ns") return parse_number(value, options.orphan_limit.ns);
  if (name == "--slots") return parse_number(value, options.slots);
  if (name == "--cgroup") return parse_cgroup(value, options);
  return false;
}

std::optional<ServerOptions> parse_arguments(int argc, char** argv) {
  ServerOptions options;
  options.listen_fd = kListenFd;
  for (int i = 1; i < argc; ++i) {
    if (parse_argument(argv[i], options)) continue;
    std::fprintf(stderr, "abacus-shim: cannot use argument '%s'; this program is started by the abacus agent\n",
                 argv[i]);
    return std::nullopt;
  }
  struct stat socket {};
  if (options.lease_text.empty() || ::fstat(kListenFd, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    std::fprintf(stderr, "abacus-shim: is started by the abacus agent, with a lease and a socket\n");
    return std::nullopt;
  }
  return options;
}

}  // namespace
}  // namespace abacus::shim

int main(int argc, char** argv) {
  auto options = abacus::shim::parse_arguments(argc, argv);
  if (!options) return 2;
  if (::chdir(options->directory.c_str()) != 0) {
    std::perror("abacus-shim: lease directory");
    return 2;
  }
  ::close_range(4, ~0u, 0);
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  return abacus::shim::Server(std::move(*options)).run();
}
