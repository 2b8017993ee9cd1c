// From files to trees: what a user sends along with a job, and what a task leaves behind.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "runtime/data/content_store.h"

namespace abacus {

/// A file or directory of this machine and its name in the tree ("." for a directory whose contents become the root).
struct PackSource {
  std::filesystem::path source;
  std::string name;
};

/// Puts the sources into the store as one tree, pinned for `owner`, and returns the manifest's digest. A source that is
/// itself a symlink is followed; symlinks below it are kept as such and must stay inside the tree. Modes are kept (not
/// owners, times, set-id bits or extended attributes); an owner's right to read, and to enter directories, is added.
/// Blocks. Errors: as TreeBuilder::add, with the source named.
Result<Digest> pack(ContentStore& store, std::string_view owner, const std::vector<PackSource>& sources);

/// A declared output that is not in the packed tree, or not wholly, and why.
struct OutputProblem {
  std::string pattern;
  Error why;  ///< `not_found` when nothing matches.
};

struct PackedOutputs {
  Digest manifest;
  std::vector<OutputProblem> problems;
};

/// Gathers a task's outputs below `work_dir` into one tree, pinned for `owner`. A pattern is a relative path whose
/// components may be globs (fnmatch: `*`, `?`, `[...]`; a leading dot must be matched by a dot); a directory comes with
/// all below it. No symlink is followed, since the task chose where it points. Blocks. Errors: those of the store and
/// of `work_dir` itself; what is wrong with single patterns is in `problems`, the rest being packed.
Result<PackedOutputs> pack_outputs(ContentStore& store, std::string_view owner, const std::filesystem::path& work_dir,
                                   const std::vector<std::string>& patterns);

}  // namespace abacus
