// Bounded: aliases may not blow a small file up.
#include "api/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <boost/json.hpp>
#include <charconv>
#include <optional>

namespace abacus {
namespace {

namespace json = boost::json;

constexpr int kMaxDepth = 32;
constexpr int kMaxValues = 100'000;

template <class Number>
std::optional<Number> whole(const std::string& text) {
  Number number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

json::value scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return json::string(text);  // quoted
  if (text == "true" || text == "false") return text == "true";
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (auto number = whole<std::int64_t>(text)) return *number;
  if (auto number = whole<std::uint64_t>(text)) return *number;
  return json::string(text);  // decimals too: the job document reads them as texts, exactly
}

class Converter {
 public:
  Result<json::value> convert(const YAML::Node& node, int depth) {
    if (depth > kMaxDepth || ++values_ > kMaxValues) {
      return fail(ErrorCode::invalid, "line {}: more than {} levels or {} values", node.Mark().line + 1, kMaxDepth,
                  kMaxValues);
    }
    if (node.IsScalar()) return scalar(node);
    if (node.IsSequence()) return sequence(node, depth);
    if (node.IsMap()) return map(node, depth);
    return json::value(nullptr);
  }

 private:
  Result<json::value> sequence(const YAML::Node& node, int depth) {
    json::array array;
    for (const YAML::Node& item : node) {
      TRY(json::value value, convert(item, depth + 1));
      array.push_back(std::move(value));
    }
    return json::value(std::move(array));
  }

  Result<json::value> map(const YAML::Node& node, int depth) {
    json::object object;
    for (const auto& member : node) {
      if (!member.first.IsScalar())
        return fail(ErrorCode::invalid, "line {}: a key must be a word", member.first.Mark().line + 1);
      TRY(json::value value, convert(member.second, depth + 1));
      if (!object.emplace(member.first.Scalar(), std::move(value)).second) {
        return fail(ErrorCode::invalid, "line {}: '{}' is there twice", member.first.Mark().line + 1,
                    member.first.Scalar());
      }
    }
    return json::value(std::move(object));
  }

  int values_ = 0;
};

}  // namespace

Result<json::value> json_of_yaml(const std::string& text) {
  try {
    return Converter().convert(YAML::Load(text), 0);
  } catch (const YAML::Exception& problem) {
    return fail(ErrorCode::invalid, "not YAML: {}", problem.what());
  }
}

}  // namespace abacus
