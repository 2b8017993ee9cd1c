// Faults and rare paths by name, and which nodes they strike.
#include <algorithm>
#include <charconv>

#include "api/suggest.h"
#include "scenario/fields.h"
#include "scenario/parts.h"

namespace abacus {
namespace {

namespace json = boost::json;
using sim::NodeIndex;

template <class Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
      [&](auto one) { names.emplace_back(one.name); });
  return names;
}

template <class Enum>
Result<Enum> named(const std::string& name) {
  Enum value{};
  if (boost::describe::enum_from_string(name.c_str(), value)) return value;
  return fail(ErrorCode::invalid, "'{}' is not known{}", name, did_you_mean(name, names_of<Enum>()));
}

/// "30%" of all nodes, drawn.
std::optional<std::vector<NodeIndex>> share(std::string_view text, Draft& draft) {
  std::uint64_t percent = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc{} || std::string_view(end, text.data() + text.size()) != "%" || percent > 100) {
    return std::nullopt;
  }
  std::vector<NodeIndex> all(draft.plan.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<NodeIndex>(i);
  draft.prng.shuffle(all);
  all.resize(all.size() * percent / 100);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<NodeIndex> of_region(std::string_view region, const Draft& draft) {
  std::vector<NodeIndex> nodes;
  for (std::size_t i = 0; i < draft.plan.nodes.size(); ++i) {
    if (draft.plan.nodes[i].region == region) nodes.push_back(static_cast<NodeIndex>(i));
  }
  return nodes;
}

Status read_one(const json::value& value, const Draft& draft, std::vector<NodeIndex>& into) {
  boost::system::error_code error;
  auto index = value.to_number<NodeIndex>(error);
  if (error || index >= draft.plan.nodes.size()) {
    return fail(ErrorCode::invalid, "{} is no node: they are numbered from 0 to {}", json::serialize(value),
                draft.plan.nodes.size() - 1);
  }
  into.push_back(index);
  return {};
}

}  // namespace

Result<std::vector<NodeIndex>> read_node_set(const json::value& value, Draft& draft) {
  std::vector<NodeIndex> nodes;
  if (draft.plan.nodes.empty()) return fail(ErrorCode::invalid, "there are no nodes");
  if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) TRY_STATUS(read_one(item, draft, nodes));
    return nodes;
  }
  if (!value.is_string()) {
    TRY_STATUS(read_one(value, draft, nodes));
    return nodes;
  }
  std::string_view text = value.get_string();
  if (auto drawn = share(text, draft)) return *drawn;
  nodes = of_region(text, draft);
  if (!nodes.empty()) return nodes;
  return fail(ErrorCode::invalid, "'{}' names no nodes: want a number, a list, a share such as 30%, or a region", text);
}

Status read_fault(const json::value& value, const std::string& path, Draft& draft) {
  Fields fields(value, path);
  sim::Fault fault;
  std::string kind;
  fields.text("kind", kind);
  fields.time("at", fault.at);
  fields.time("lasts", fault.lasts);
  fields.time("by", fault.by);
  fields.number("permille", fault.permille, 1'000);
  for (auto [name, set] : {std::pair{"nodes", &fault.nodes}, std::pair{"others", &fault.others}}) {
    fields.with(name, [&, set = set](const json::value& nodes, const std::string& at) -> Status {
      auto read = read_node_set(nodes, draft);
      if (!read) return fail(read.error().in(at));
      *set = std::move(*read);
      return {};
    });
  }
  TRY_STATUS(fields.finish());
  auto known = named<sim::FaultKind>(kind);
  if (!known) return fail(known.error().in(path + ".kind"));
  fault.kind = *known;
  draft.struck += fault.nodes.size() + fault.others.size();
  Status room = check_room("faults", draft.plan.faults.size(), 1, draft.limits.faults);
  if (room) room = check_room("nodes struck", 0, draft.struck, draft.limits.struck);
  if (!room) return fail(room.error().in(path));
  draft.plan.faults.push_back(std::move(fault));
  return {};
}

Status read_chances(const json::value& value, const std::string& path, Draft& draft) {
  Fields fields(value, path);
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<sim::FaultPoint>>([&](auto point) {
    std::uint32_t permille = 0;
    fields.number(point.name, permille, 1'000);
    if (permille > 0) draft.plan.chances.push_back({point.value, permille});
  });
  return fields.finish();
}

}  // namespace abacus
