// The placeholder filled in.
#include "protocol/output_dir.h"

namespace abacus {

std::string output_dir_of(const JobSpec& spec, const TaskId& task) {
  if (spec.output_dir.empty()) return "";
  std::string path = spec.output_dir;
  const std::string placeholder = kJobIdPlaceholder, id = task.job.to_string();
  for (std::size_t at = path.find(placeholder); at != std::string::npos; at = path.find(placeholder, at + id.size())) {
    path.replace(at, placeholder.size(), id);
  }
  return spec.is_array ? path + "/" + std::to_string(task.index) : path;
}

}  // namespace abacus
