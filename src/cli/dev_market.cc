// The record is JSON, written beside and renamed into place.
#include "cli/dev_market.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "api/from_json.h"
#include "api/json_text.h"
#include "base/size.h"

namespace abacus {
namespace {

constexpr std::uint32_t kWeights[] = {2, 1, 3, 1, 2};
constexpr std::int64_t kTariffsMicro[] = {120'000'000, 280'000'000, 200'000'000, 360'000'000};
constexpr std::int64_t kTariffStepMicro = 10'000'000;
constexpr std::uint64_t kMemoryGrain = 64ull << 20;

std::string file_of(const std::string& dir) { return dir + "/dev.json"; }

Error file_error(const std::string& path, const char* doing) {
  ErrorCode code = errno == EACCES || errno == EROFS ? ErrorCode::denied : ErrorCode::internal;
  return {code, fmt::format("{} {}: {}", doing, path, std::strerror(errno))};
}

std::uint32_t weight_of(std::uint32_t i) { return kWeights[i % std::size(kWeights)]; }

std::string capacity_of(std::uint32_t i, std::uint32_t weights, const Capacity& machine) {
  std::uint32_t cpus = std::max(1u, machine.cpu_milli / 1000);
  std::uint32_t cpu = std::clamp(weight_of(i) * std::max(1u, cpus / weights), 1u, cpus);
  std::uint64_t memory = machine.memory_bytes / 5 * 4 / weights * weight_of(i) / kMemoryGrain * kMemoryGrain;
  std::string text = machine.cpu_milli < 1000 ? "" : fmt::format("cpu={},", cpu);
  return text + fmt::format("memory={}MiB", std::max(memory, kMemoryGrain) >> 20);
}

}  // namespace

std::vector<DevAgent> plan_dev_agents(const std::string& dir, std::uint32_t count,
                                      const std::vector<std::string>& regions, const Capacity& machine) {
  std::uint32_t weights = 0;
  for (std::uint32_t i = 0; i < count; ++i) weights += weight_of(i);
  std::vector<DevAgent> agents;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::size_t region = i % regions.size();
    DevAgent agent;
    agent.name = fmt::format("agent-{}", i + 1);
    agent.data_dir = dir + "/" + agent.name;
    agent.region = regions[region];
    agent.capacity = capacity_of(i, weights, machine);
    std::int64_t turn = static_cast<std::int64_t>(i / regions.size());
    agent.energy_per_kwh = {kTariffsMicro[region % std::size(kTariffsMicro)] + turn * kTariffStepMicro};
    agents.push_back(std::move(agent));
  }
  return agents;
}

Result<std::optional<DevMarket>> load_dev_market(const std::string& dir) {
  std::string path = file_of(dir);
  if (access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::optional<DevMarket>();
  std::ifstream file(path);
  if (!file) return fail(file_error(path, "reading"));
  std::stringstream text;
  text << file.rdbuf();
  auto json = parse_json(text.str());
  auto market = json ? from_json<DevMarket>(*json) : Result<DevMarket>(fail(json.error()));
  if (!market) {
    return fail(ErrorCode::corrupt, "{} is damaged ({}): end its agents by hand and delete the file", path,
                market.error().message);
  }
  return std::optional<DevMarket>(std::move(*market));
}

Status save_dev_market(const DevMarket& market) {
  boost::json::value json = to_json(market);
  json.get_object()["schema"] = 1;
  std::string text = boost::json::serialize(json) + "\n", path = file_of(market.dir), fresh = path + ".new";
  int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(file_error(fresh, "writing"));
  bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  close(fd);
  if (!written || rename(fresh.c_str(), path.c_str()) != 0) return fail(file_error(path, "writing"));
  return {};
}

void forget_dev_market(const std::string& dir) { unlink(file_of(dir).c_str()); }

}  // namespace abacus
