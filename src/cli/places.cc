// Paths from the environment.
#include "cli/places.h"

#include <cstdlib>
#include <filesystem>

namespace abacus {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string default_data_dir() {
  if (std::string home = variable("ABACUS_HOME"); !home.empty()) return absolute_path(home, current_folder());
  if (std::string data = variable("XDG_DATA_HOME"); !data.empty())
    return absolute_path(data + "/abacus", current_folder());
  std::string home = variable("HOME");
  return (home.empty() ? "/var/lib" : home + "/.local/share") + "/abacus";
}

std::string default_dev_dir() { return default_data_dir() + "/dev"; }

std::string socket_of(const std::string& data_dir) { return data_dir + "/agent.sock"; }
std::string token_file_of(const std::string& data_dir) { return data_dir + "/api-token"; }

std::string absolute_path(const std::string& path, const std::string& folder) {
  std::string joined = (std::filesystem::path(folder) / path).lexically_normal();
  while (joined.size() > 1 && joined.back() == '/') joined.pop_back();
  return joined;
}

std::string current_folder() {
  std::error_code error;
  std::string folder = std::filesystem::current_path(error);
  return error ? "/" : folder;
}

}  // namespace abacus
