// Gathers files, directories and symlinks of the disk into a manifest, their content going into the store.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "runtime/data/content_store.h"
#include "runtime/data/manifest.h"
#include "runtime/posix/fd.h"

namespace abacus {

/// Everything is opened relative to a directory's descriptor and never through a symlink, so a tree that changes under
/// the builder's hands cannot lead it elsewhere. Blocks and burns CPU; one thread at a time.
class TreeBuilder {
 public:
  explicit TreeBuilder(ContentStore& store) : store_(store), hold_(store) {}

  /// Adds what `directory` holds under `name`, with all below it, as `tree_path`. What the tree has already from the
  /// same file is passed over. Errors: `invalid` for a device, socket or pipe, a symlink that would leave the tree, or
  /// a path that another file has taken; `exhausted` past a limit of the manifest or the store; others as
  /// code_of_errno.
  Status add(const Fd& directory, const std::string& name, const std::string& tree_path);

  /// Adds all that an open directory holds, below `tree_path` ("" is the root).
  Status add_contents(const Fd& directory, const std::string& tree_path);

  /// Adds an open regular file as `tree_path`.
  Status add_file(const Fd& file, const std::string& tree_path);

  /// Adds a directory entry and those of its parents that are not there yet.
  Status add_directory(const std::string& tree_path, mode_t mode);

  /// Stores the manifest and pins it and its chunks for `owner`. Returns the manifest's digest.
  Result<Digest> finish(std::string_view owner);

 private:
  struct Source {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Source&) const = default;
  };
  struct Item {
    TreeEntry entry;
    Source source;
  };

  Result<bool> is_new(const std::string& tree_path, TreeEntry::Kind kind, Source source) const;
  Status insert(TreeEntry entry, Source source);
  Status add_symlink(const Fd& directory, const std::string& name, const std::string& tree_path, Source source);
  Status read_chunks(const Fd& file, TreeEntry& entry);

  ContentStore& store_;
  ContentStore::Hold hold_;
  std::map<std::string, Item> items_;
};

/// The names in an open directory, sorted, without "." and "..". Errors: `exhausted` past Manifest::kEntriesMax.
Result<std::vector<std::string>> names_in(const Fd& directory);

}  // namespace abacus
