// Looks members up, converts them, and remembers what went wrong first.
#include "scenario/fields.h"

#include <algorithm>

#include "api/suggest.h"
#include "base/time_text.h"

namespace abacus {
namespace {

namespace json = boost::json;

Result<Duration> time_of(const json::value& value) {
  if (value.is_int64()) return parse_duration(std::to_string(value.get_int64()));
  if (value.is_string()) return parse_duration(std::string_view(value.get_string()));
  return fail(ErrorCode::invalid, "{} is no time: want a text such as 150us or 2h, or seconds", json::serialize(value));
}

}  // namespace

Fields::Fields(const json::value& value, std::string path) : path_(std::move(path)) {
  object_ = value.if_object();
  if (object_ == nullptr) status_ = fail(ErrorCode::invalid, "{}: want names and values", path_.empty() ? "it" : path_);
}

std::string Fields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void Fields::wrong(std::string_view name, const std::string& what) {
  if (status_) status_ = fail(ErrorCode::invalid, "{}: {}", path_of(name), what);
}

const json::value* Fields::find(std::string_view name) {
  asked_.emplace_back(name);
  return status_ ? object_->if_contains(name) : nullptr;
}

void Fields::text(std::string_view name, std::string& out) {
  const json::value* value = find(name);
  if (value == nullptr) return;
  if (!value->is_string()) return wrong(name, fmt::format("{} is no text", json::serialize(*value)));
  out = std::string(value->get_string());
}

void Fields::flag(std::string_view name, bool& out) {
  const json::value* value = find(name);
  if (value == nullptr) return;
  if (!value->is_bool()) return wrong(name, fmt::format("{} is neither true nor false", json::serialize(*value)));
  out = value->get_bool();
}

void Fields::time(std::string_view name, Duration& out) {
  const json::value* value = find(name);
  if (value == nullptr) return;
  auto time = time_of(*value);
  if (!time) return wrong(name, time.error().message);
  out = *time;
}

void Fields::number(std::string_view name, std::uint64_t& out, std::uint64_t most) {
  const json::value* value = find(name);
  if (value == nullptr) return;
  boost::system::error_code error;
  auto number = value->to_number<std::uint64_t>(error);
  if (error || value->is_double() || number > most) {
    return wrong(name, fmt::format("{} is no whole number from 0 to {}", json::serialize(*value), most));
  }
  out = number;
}

void Fields::number(std::string_view name, std::uint32_t& out, std::uint32_t most) {
  std::uint64_t wide = out;
  number(name, wide, most);
  out = static_cast<std::uint32_t>(wide);
}

void Fields::each(std::string_view name, const std::function<Status(const json::value&, std::string)>& read) {
  const json::value* value = find(name);
  if (value == nullptr) return;
  const json::array* list = value->if_array();
  if (list == nullptr) return wrong(name, "want a list");
  for (std::size_t i = 0; i < list->size() && status_; ++i)
    status_ = read((*list)[i], fmt::format("{}[{}]", path_of(name), i));
}

void Fields::with(std::string_view name, const std::function<Status(const json::value&, std::string)>& read) {
  const json::value* value = find(name);
  if (value != nullptr) status_ = read(*value, path_of(name));
}

Status Fields::finish() {
  if (!status_) return status_;
  for (const auto& member : *object_) {
    std::string name(member.key());
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    return fail(ErrorCode::invalid, "{}: there is no such thing here{}", path_of(name), did_you_mean(name, asked_));
  }
  return {};
}

}  // namespace abacus
