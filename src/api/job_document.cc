// The fields of a job document, each with its reader.
#include "api/job_document.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <set>

#include "api/from_json.h"
#include "api/suggest.h"
#include "base/size.h"
#include "base/time_text.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

namespace json = boost::json;

struct Draft {
  SubmitRequest request;
  WallTime now;

  JobSpec& spec() { return request.spec; }
  WorkSpec& work() { return request.spec.work; }
};

using Reader = Status (*)(const json::value&, Draft&);

/// `read` takes the form for people, `exact` the integer named with its unit.
struct Field {
  const char* name;
  Reader read;
  const char* exact_name = nullptr;
  Reader read_exact = nullptr;
};

template <class... Args>
Status wrong(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::invalid, format, std::forward<Args>(args)...);
}

/// A text, or a number written as one: 0.5 becomes "0.5".
Result<std::string> text_or_number(const json::value& value, const char* wanted) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_int64()) return std::to_string(value.get_int64());
  if (value.is_uint64()) return std::to_string(value.get_uint64());
  if (value.is_double()) return fmt::format("{}", value.get_double());
  return fail(ErrorCode::invalid, "{} is no {}", json::serialize(value), wanted);
}

template <class T>
Status integer(const json::value& value, T& out, std::int64_t low = 0,
               std::uint64_t high = std::numeric_limits<std::int64_t>::max()) {
  std::int64_t number = 0;
  high = std::min<std::uint64_t>(high, std::numeric_limits<T>::max());
  if (!json_read::from(value, number) || number < low || (number >= 0 && static_cast<std::uint64_t>(number) > high)) {
    return wrong("{} is out of place: want an integer from {} to {}", json::serialize(value), low, high);
  }
  out = static_cast<T>(number);
  return {};
}

Status text(const json::value& value, std::string& out) {
  if (!value.is_string()) return wrong("{} is not a text", json::serialize(value));
  if (value.get_string().size() > limits::kTextBytes) return wrong("the text is above {} bytes", limits::kTextBytes);
  out = std::string(value.get_string());
  if (out.find('\0') != std::string::npos) return wrong("the text has a zero byte");
  return {};
}

Status texts(const json::value& value, std::vector<std::string>& out, const char* example) {
  if (!value.is_array()) return wrong("{} is not a list of texts: want such as {}", json::serialize(value), example);
  if (value.get_array().size() > limits::kListItems) return wrong("more than {} items", limits::kListItems);
  out.clear();
  for (const json::value& item : value.get_array()) {
    if (Status read = text(item, out.emplace_back()); !read) {
      return fail(read.error().in(fmt::format("[{}]", out.size() - 1)));
    }
  }
  return {};
}

Status size(const json::value& value, std::uint64_t& out) {
  TRY(std::string written, text_or_number(value, "size"));
  TRY(out, parse_size(written));
  return {};
}

Status duration(const json::value& value, Duration& out) {
  TRY(std::string written, text_or_number(value, "duration"));
  TRY(out, parse_duration(written));
  return {};
}

Status exact_duration(const json::value& value, Duration& out) {
  return integer(value, out.ns, 0, limits::kMaxDurationNs);
}

template <std::uint64_t Bundle::*Member>
Status bundle_size(const json::value& value, Draft& draft) {
  return size(value, draft.spec().bundle.*Member);
}
template <std::uint64_t Bundle::*Member>
Status exact_bundle_size(const json::value& value, Draft& draft) {
  return integer(value, draft.spec().bundle.*Member);
}
template <Duration JobSpec::*Member>
Status job_time(const json::value& value, Draft& draft) {
  return duration(value, draft.spec().*Member);
}
template <Duration JobSpec::*Member>
Status exact_job_time(const json::value& value, Draft& draft) {
  return exact_duration(value, draft.spec().*Member);
}
template <Duration WorkSpec::*Member>
Status work_time(const json::value& value, Draft& draft) {
  return duration(value, draft.work().*Member);
}
template <Duration WorkSpec::*Member>
Status exact_work_time(const json::value& value, Draft& draft) {
  return exact_duration(value, draft.work().*Member);
}

Status read_name(const json::value& value, Draft& draft) { return text(value, draft.spec().name); }

Status read_command(const json::value& value, Draft& draft) {
  return texts(value, draft.work().command, R"(["echo", "hello"])");
}

Status read_environment(const json::value& value, Draft& draft) {
  if (!value.is_object())
    return wrong(R"({} is not an environment: want such as {{"NAME": "value"}})", json::serialize(value));
  if (value.get_object().size() > limits::kListItems) return wrong("more than {} variables", limits::kListItems);
  for (const auto& member : value.get_object()) {
    EnvironmentVariable& variable = draft.work().environment.emplace_back();
    variable.name = std::string(member.key());
    if (Status read = text(member.value(), variable.value); !read) return fail(read.error().in(variable.name));
  }
  return {};
}

Status read_cpu(const json::value& value, Draft& draft) {
  TRY(std::string written, text_or_number(value, "number of CPUs"));
  TRY(draft.spec().bundle.cpu_milli, parse_cpu_milli(written));
  return {};
}

Status read_cpu_milli(const json::value& value, Draft& draft) {
  return integer(value, draft.spec().bundle.cpu_milli, 1, limits::kMaxCpuMilli);
}

Status read_gpu(const json::value& value, Draft& draft) {
  TRY(std::string written, text_or_number(value, "need of GPUs"));
  TRY(DeviceNeed need, parse_gpu(written));
  draft.spec().bundle.devices.push_back(std::move(need));
  return {};
}

Status unknown_field(std::string_view name, const std::vector<std::string>& names) {
  return wrong("unknown field '{}'{}", name.substr(0, limits::kNameBytes), did_you_mean(name, names));
}

/// Refuses members of an object that are not in `names`.
Status only(const json::object& object, const std::vector<std::string>& names) {
  for (const auto& member : object) {
    std::string_view name(member.key().data(), member.key().size());
    if (std::find(names.begin(), names.end(), name) == names.end()) return unknown_field(name, names);
  }
  return {};
}

Status read_device(const json::value& value, DeviceNeed& need) {
  if (!value.is_object())
    return wrong(R"({} is not a device: want such as {{"kind": "gpu", "count": 1}})", json::serialize(value));
  TRY_STATUS(only(value.get_object(), {"kind", "model", "count"}));
  if (Status read = json_read::from(value, need); !read) return wrong("{}", read.error().message);
  return validate(need);
}

Status read_devices(const json::value& value, Draft& draft) {
  if (!value.is_array()) return wrong("{} is not a list of devices", json::serialize(value));
  std::size_t at = 0;
  for (const json::value& item : value.get_array()) {
    DeviceNeed need;
    if (Status read = read_device(item, need); !read) return fail(read.error().in(fmt::format("[{}]", at)));
    draft.spec().bundle.devices.push_back(std::move(need));
    ++at;
  }
  return {};
}

Status read_array(const json::value& value, Draft& draft) {
  ArraySpec array;
  if (value.is_object()) {
    TRY_STATUS(only(value.get_object(), {"first", "last", "step", "running_max"}));
    if (Status read = json_read::from(value, array); !read) return wrong("{}", read.error().message);
    TRY_STATUS(validate(array));
  } else {
    TRY(std::string written, text_or_number(value, "array"));
    TRY(array, parse_array(written));
  }
  draft.spec().array = array;
  draft.spec().is_array = true;
  return {};
}

Status read_regions(const json::value& value, Draft& draft) {
  return texts(value, draft.spec().regions, R"(["eu-north"])");
}

Status read_budget(const json::value& value, Draft& draft) {
  TRY(std::string written, text_or_number(value, "amount"));
  TRY(draft.spec().budget, parse_money(written));
  return {};
}

Status read_budget_micro(const json::value& value, Draft& draft) {
  return integer(value, draft.spec().budget.emplace().micro, 0, limits::kMaxMoneyMicro);
}

Status read_deadline(const json::value& value, Draft& draft) {
  TRY(std::string written, text_or_number(value, "deadline"));
  if (auto time = parse_wall_time(written)) {
    draft.spec().deadline = *time;
  } else if (auto span = parse_duration(written)) {
    draft.spec().deadline = draft.now + *span;
  } else {
    return wrong("'{}' is no deadline: want a time from now such as 2h, or UTC such as 2026-12-01T18:30:00Z", written);
  }
  if (*draft.spec().deadline <= draft.now) return wrong("'{}' is past: it is {} now", written, utc_text(draft.now));
  return {};
}

Status read_deadline_ns(const json::value& value, Draft& draft) {
  TRY_STATUS(integer(value, draft.spec().deadline.emplace().ns));
  if (*draft.spec().deadline <= draft.now) return wrong("the deadline is past: it is {} now", utc_text(draft.now));
  return {};
}

Status read_urgency(const json::value& value, Draft& draft) {
  TRY(std::string written, text_or_number(value, "urgency"));
  TRY(draft.spec().urgency, parse_urgency(written));
  return {};
}

Status read_urgency_micro(const json::value& value, Draft& draft) {
  return integer(value, draft.spec().urgency.micro_per_s, 0, limits::kMaxMoneyMicro);
}

Status read_repeat(const json::value& value, Draft& draft) {
  if (json_read::from(value, draft.spec().repeat)) return {};
  return wrong("{} is not known: want idempotent or at_most_once", json::serialize(value));
}

Status read_attempts_max(const json::value& value, Draft& draft) {
  return integer(value, draft.spec().attempts_max, 1);
}

/// A relative path that stays inside the working directory.
Status check_inside(const std::string& path) {
  bool leaves = path.empty() || path.front() == '/' || ("/" + path + "/").find("/../") != std::string::npos;
  if (leaves) return wrong("'{}' must be a relative path inside the working directory, without '..'", path);
  return {};
}

Status read_input(const json::value& value, InputPath& input) {
  if (value.is_string()) {
    TRY(input, parse_input(std::string_view(value.get_string())));
  } else if (value.is_object()) {
    TRY_STATUS(only(value.get_object(), {"source", "name"}));
    if (Status read = json_read::from(value, input); !read) return wrong("{}", read.error().message);
  } else {
    return wrong(R"({} is not an input: want "PATH:NAME" or {{"source": PATH, "name": NAME}})", json::serialize(value));
  }
  if (input.source.empty() || input.source.front() != '/' || input.source.find('\0') != std::string::npos) {
    return wrong("'{}' must be an absolute path on the agent's machine", input.source);
  }
  if (input.name.find('\0') != std::string::npos) return wrong("the name has a zero byte");
  return check_inside(input.name);
}

Status read_inputs(const json::value& value, Draft& draft) {
  if (!value.is_array()) return wrong("{} is not a list of inputs", json::serialize(value));
  if (value.get_array().size() > limits::kListItems) return wrong("more than {} inputs", limits::kListItems);
  std::set<std::string> names;
  for (const json::value& item : value.get_array()) {
    InputPath& input = draft.request.inputs.emplace_back();
    if (Status read = read_input(item, input); !read) return fail(read.error().in(fmt::format("[{}]", names.size())));
    if (!names.insert(input.name).second) {
      return wrong("two inputs are named '{}': give one another name (PATH:NAME)", input.name);
    }
  }
  return {};
}

Status read_outputs(const json::value& value, Draft& draft) {
  TRY_STATUS(texts(value, draft.work().outputs, R"(["result.txt", "*.png"])"));
  for (const std::string& pattern : draft.work().outputs) TRY_STATUS(check_inside(pattern));
  return {};
}

Status read_output_dir(const json::value& value, Draft& draft) {
  TRY_STATUS(text(value, draft.spec().output_dir));
  if (draft.spec().output_dir.empty() || draft.spec().output_dir.front() == '/') return {};
  return wrong("'{}' must be an absolute path on the agent's machine", draft.spec().output_dir);
}

Status read_log_cap(const json::value& value, Draft& draft) { return size(value, draft.work().log_cap_bytes); }
Status read_log_cap_bytes(const json::value& value, Draft& draft) { return integer(value, draft.work().log_cap_bytes); }
Status read_pids_max(const json::value& value, Draft& draft) { return integer(value, draft.work().pids_max); }

constexpr Field kFields[] = {
    {"name", read_name},
    {"command", read_command},
    {"environment", read_environment},
    {"cpu", read_cpu, "cpu_milli", read_cpu_milli},
    {"memory", bundle_size<&Bundle::memory_bytes>, "memory_bytes", exact_bundle_size<&Bundle::memory_bytes>},
    {"disk", bundle_size<&Bundle::disk_bytes>, "disk_bytes", exact_bundle_size<&Bundle::disk_bytes>},
    {"gpu", read_gpu},
    {"devices", read_devices},
    {"array", read_array},
    {"regions", read_regions},
    {"budget", read_budget, "budget_micro", read_budget_micro},
    {"deadline", read_deadline, "deadline_ns", read_deadline_ns},
    {"time_limit", work_time<&WorkSpec::time_limit>, "time_limit_ns", exact_work_time<&WorkSpec::time_limit>},
    {"grace", work_time<&WorkSpec::grace>, "grace_ns", exact_work_time<&WorkSpec::grace>},
    {"expected_run", job_time<&JobSpec::expected_run>, "expected_run_ns", exact_job_time<&JobSpec::expected_run>},
    {"lost_after", job_time<&JobSpec::lost_after>, "lost_after_ns", exact_job_time<&JobSpec::lost_after>},
    {"urgency", read_urgency, "urgency_micro_per_s", read_urgency_micro},
    {"repeat", read_repeat},
    {"attempts_max", read_attempts_max},
    {"inputs", read_inputs},
    {"outputs", read_outputs},
    {"output_dir", read_output_dir},
    {"log_cap", read_log_cap, "log_cap_bytes", read_log_cap_bytes},
    {"pids_max", read_pids_max},
};

Status read_field(const Field& field, const json::object& object, Draft& draft) {
  const json::value* value = object.if_contains(field.name);
  const json::value* exact = field.exact_name ? object.if_contains(field.exact_name) : nullptr;
  if (value && exact) return wrong("'{}' and '{}' say the same: give one of them", field.name, field.exact_name);
  Status read = value ? field.read(*value, draft) : exact ? field.read_exact(*exact, draft) : Status{};
  if (!read) return fail(read.error().in(value ? field.name : field.exact_name));
  return {};
}

}  // namespace

std::vector<std::string> job_document_fields() {
  std::vector<std::string> names;
  for (const Field& field : kFields) {
    names.emplace_back(field.name);
    if (field.exact_name) names.emplace_back(field.exact_name);
  }
  return names;
}

Result<SubmitRequest> parse_job_document(const json::value& document, WallTime now) {
  if (!document.is_object()) {
    return fail(ErrorCode::invalid, R"(a job must be a JSON object, such as {{"command": ["echo", "hello"]}})");
  }
  TRY_STATUS(only(document.get_object(), job_document_fields()));
  if (!document.get_object().contains("command")) {
    return fail(ErrorCode::invalid, R"(command: missing; want a list of words, such as ["echo", "hello"])");
  }
  Draft draft;
  draft.now = now;
  for (const Field& field : kFields) TRY_STATUS(read_field(field, document.get_object(), draft));
  TRY_STATUS(validate(draft.spec().bundle));
  TRY_STATUS(validate(draft.work()));
  TRY_STATUS(validate(draft.spec()));
  return std::move(draft.request);
}

}  // namespace abacus
