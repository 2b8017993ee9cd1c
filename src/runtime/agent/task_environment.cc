// The ABACUS_ variables of an attempt, and which devices it may see.
#include "runtime/agent/task_environment.h"

#include <algorithm>
#include <map>

namespace abacus {
namespace {

constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool wants_gpu(const Bundle& bundle) {
  return std::any_of(bundle.devices.begin(), bundle.devices.end(),
                     [](const DeviceNeed& need) { return need.kind == "gpu"; });
}

std::string join(const std::vector<std::uint32_t>& indices) {
  std::string text;
  for (std::uint32_t index : indices) text += (text.empty() ? "" : ",") + std::to_string(index);
  return text;
}

}  // namespace

std::vector<std::string> task_environment(const Launch& launch, const NodeId& node, const std::string& region,
                                          const std::string& work_dir) {
  std::map<std::string, std::string> variables{
      {"PATH", kDefaultPath}, {"HOME", work_dir}, {"TMPDIR", work_dir}, {"LANG", "C.UTF-8"}};
  for (const EnvironmentVariable& variable : launch.work.environment) variables[variable.name] = variable.value;
  variables["ABACUS_JOB_ID"] = launch.attempt.task.job.to_string();
  variables["ABACUS_TASK_INDEX"] = std::to_string(launch.attempt.task.index);
  variables["ABACUS_ATTEMPT"] = std::to_string(launch.attempt.number);
  variables["ABACUS_NODE"] = node.to_string();
  variables["ABACUS_REGION"] = region;
  if (wants_gpu(launch.bundle)) variables["CUDA_VISIBLE_DEVICES"] = join(launch.devices);
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

}  // namespace abacus
