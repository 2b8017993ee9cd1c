// Which names a tree of files may hold: the rules that keep an unpacked tree inside its folder.
#pragma once

#include <string_view>

#include "base/result.h"

namespace abacus {

inline constexpr std::size_t kTreePathBytesMax = 4096;
inline constexpr std::size_t kTreeNameBytesMax = 255;
inline constexpr std::size_t kTreeDepthMax = 64;

/// A relative path of plain components separated by single slashes: not empty, no "." or "..", no slash at either end,
/// no NUL, within the limits above. Errors: `invalid`, naming the path and the rule.
Status check_tree_path(std::string_view path);

/// The target of a symlink at `path`, itself a good tree path. It may begin with as many "../" as `path` has parents,
/// and goes on with plain components only. Every component that it names is then a directory of the tree or a link
/// that obeys the same rule, so following it cannot leave the tree. ("a/.." is refused: if `a` is a link to a deeper or
/// higher directory, ".." means something else than it seems to.) Errors: `invalid`.
Status check_link_target(std::string_view path, std::string_view target);

/// The part before the last slash; empty for a top-level name.
inline std::string_view tree_parent(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// The part after the last slash.
inline std::string_view tree_leaf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace abacus
