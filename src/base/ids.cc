// Task names to and from text.
#include "base/ids.h"

#include <charconv>

namespace abacus {

Result<TaskId> TaskId::parse(std::string_view text) {
  std::size_t dot = text.find('.');
  TRY(JobId job, JobId::parse(text.substr(0, dot)));
  TaskId task{job, 0};
  if (dot == std::string_view::npos) return task;
  std::string_view digits = text.substr(dot + 1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), task.index);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
    return fail(ErrorCode::invalid, "'{}' is not a task: want JOB.INDEX with INDEX a number", text);
  }
  return task;
}

}  // namespace abacus
