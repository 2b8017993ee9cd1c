// The small texts inside a job document: arrays, CPUs, GPUs, urgency, inputs.
#include <charconv>

#include "api/job_document.h"
#include "protocol/limits.h"

namespace abacus {
namespace {

bool read_number(std::string_view text, std::uint32_t& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Cuts `text` at the last `separator` and returns what follows it; nothing if it is not there.
std::optional<std::string_view> cut_tail(std::string_view& text, char separator) {
  std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view tail = text.substr(at + 1);
  text = text.substr(0, at);
  return tail;
}

}  // namespace

Result<ArraySpec> parse_array(std::string_view text) {
  ArraySpec array;
  std::string_view rest = text;
  auto running_max = cut_tail(rest, '%');
  auto step = cut_tail(rest, ':');
  auto last = cut_tail(rest, '-');
  bool good = read_number(rest, array.first) && read_number(last.value_or(rest), array.last) &&
              (!step || (last && read_number(*step, array.step))) &&
              (!running_max || (read_number(*running_max, array.running_max) && array.running_max > 0));
  if (!good) {
    return fail(ErrorCode::invalid,
                "'{}' is not an array: want FIRST-LAST, FIRST-LAST:STEP or FIRST-LAST%AT_ONCE, such as 0-99", text);
  }
  TRY_STATUS(validate(array));
  return array;
}

Result<std::uint32_t> parse_cpu_milli(std::string_view text) {
  constexpr std::int64_t kMicroPerMilli = 1'000;
  std::uint32_t milli = 0;
  bool good = false;
  if (!text.empty() && text.back() == 'm') {
    good = read_number(text.substr(0, text.size() - 1), milli);
  } else if (auto decimal = parse_money(text); decimal && decimal->micro >= 0) {
    std::int64_t whole = decimal->micro / kMicroPerMilli;
    good = decimal->micro % kMicroPerMilli == 0 && whole <= limits::kMaxCpuMilli;
    milli = good ? static_cast<std::uint32_t>(whole) : 0;
  }
  if (good && milli > 0 && milli <= limits::kMaxCpuMilli) return milli;
  return fail(ErrorCode::invalid, "'{}' is not a number of CPUs: want 2, 0.5 or 500m, with at most three decimals",
              text);
}

Result<DeviceNeed> parse_gpu(std::string_view text) {
  DeviceNeed need{"gpu", "", 1};
  std::string_view model = text;
  bool good = !text.empty();
  if (read_number(text, need.count)) {
    model = "";
  } else if (auto count = cut_tail(model, ':')) {
    good = !model.empty() && read_number(*count, need.count);
  }
  need.model = std::string(model);
  if (!good || !validate(need)) {
    return fail(ErrorCode::invalid, "'{}' is not a need of GPUs: want COUNT, MODEL or MODEL:COUNT, such as 2 or a100:2",
                text);
  }
  return need;
}

Result<Price> parse_urgency(std::string_view text) {
  constexpr std::int64_t kSecondsPerHour = 3600;
  if (text == "low") return Price{1'000};
  if (text == "normal") return JobSpec{}.urgency;
  if (text == "high") return Price{100'000};
  auto per_hour = parse_money(text);
  if (per_hour && *per_hour >= Money{}) return Price{per_hour->micro / kSecondsPerHour};
  return fail(ErrorCode::invalid,
              "'{}' is no urgency: want low, normal, high, or what an hour's delay is worth in credits", text);
}

Result<InputPath> parse_input(std::string_view text) {
  std::string_view source = text;
  auto name = cut_tail(source, ':');
  if (!name) {
    std::string_view trimmed = source;
    while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.remove_suffix(1);
    name = trimmed.substr(trimmed.rfind('/') + 1);
  }
  if (source.empty() || name->empty()) {
    return fail(ErrorCode::invalid, "'{}' is not an input: want PATH or PATH:NAME", text);
  }
  return InputPath{std::string(source), std::string(*name)};
}

}  // namespace abacus
