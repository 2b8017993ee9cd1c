// Checks a path component by component, and that a link's target climbs no further than its tree.
#include "runtime/data/tree_path.h"

#include <algorithm>

namespace abacus {
namespace {

Status check_component(std::string_view name) {
  if (name.empty()) return fail(ErrorCode::invalid, "it has an empty component (a slash too many)");
  if (name == "." || name == "..") return fail(ErrorCode::invalid, "'{}' is not allowed in it", name);
  if (name.size() > kTreeNameBytesMax) {
    return fail(ErrorCode::invalid, "a component of {} bytes: the limit is {}", name.size(), kTreeNameBytesMax);
  }
  if (name.find('\0') != std::string_view::npos) return fail(ErrorCode::invalid, "it has a NUL byte");
  return {};
}

Status check_components(std::string_view path) {
  if (path.empty()) return fail(ErrorCode::invalid, "it is empty");
  if (path.size() > kTreePathBytesMax) {
    return fail(ErrorCode::invalid, "it has {} bytes: the limit is {}", path.size(), kTreePathBytesMax);
  }
  if (path.front() == '/') return fail(ErrorCode::invalid, "it is absolute; want a path inside the tree");
  auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) + 1;
  if (depth > kTreeDepthMax)
    return fail(ErrorCode::invalid, "it is {} levels deep: the limit is {}", depth, kTreeDepthMax);
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = std::min(path.find('/', at), path.size());
    TRY_STATUS(check_component(path.substr(at, end - at)));
    at = end + 1;
  }
  return {};
}

}  // namespace

Status check_tree_path(std::string_view path) {
  if (auto good = check_components(path); !good) {
    return fail(good.error().in(fmt::format("the path '{}'", path.substr(0, kTreeNameBytesMax))));
  }
  return {};
}

Status check_link_target(std::string_view path, std::string_view target) {
  std::string_view rest = target;
  auto parents = std::count(path.begin(), path.end(), '/');
  for (; parents > 0 && (rest == ".." || rest.starts_with("../")); --parents) {
    rest.remove_prefix(std::min<std::size_t>(3, rest.size()));
    if (rest.empty() && target.ends_with("..")) return {};
  }
  if (auto good = check_components(rest); !good) {
    return fail(good.error().in(fmt::format("the symlink '{}' to '{}' must stay in the tree: its target",
                                            path.substr(0, kTreeNameBytesMax), target.substr(0, kTreeNameBytesMax))));
  }
  return {};
}

}  // namespace abacus
