// From trees back to files, never writing outside the destination.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "runtime/data/content_store.h"
#include "runtime/data/manifest.h"

namespace abacus {

/// The manifest named by `digest`, from the store, decoded. Errors: as ContentStore::get and decode_manifest.
Result<Manifest> load_manifest(ContentStore& store, const Digest& digest);

/// Pins the manifest and every chunk of the tree for `owner`. Blocks. Errors: as load_manifest and ContentStore::pin.
Status pin_tree(ContentStore& store, std::string_view owner, const Digest& manifest);

/// Makes `destination`, absent or an empty directory, hold exactly the tree, whose content is pinned in `store`. It is
/// built beside it, as ".NAME.partial" (a leftover of that name is removed first), and renamed: what is at
/// `destination` is never half a tree. Not synced to disk. Modes are those of the manifest, independent of the umask;
/// `destination` itself gets 0700. Blocks.
/// Errors: `exhausted` if the files have more than `bytes_max` bytes or the disk is full; `already_exists` if the
/// destination holds something; `not_found` or `corrupt` for content; others as code_of_errno.
Status unpack(ContentStore& store, const Manifest& tree, const std::filesystem::path& destination,
              std::uint64_t bytes_max);

/// Adds the tree to what `destination` (made if need be) holds: directories that are there keep their modes, files and
/// symlinks of the same path are replaced, each atomically; after an error some are, and some are not. A symlink in the
/// place of a directory is refused, not followed. Errors: as unpack, and `already_exists` for a directory in the place
/// of a file or the reverse.
Status unpack_over(ContentStore& store, const Manifest& tree, const std::filesystem::path& destination,
                   std::uint64_t bytes_max);

/// Room for files where `directory` lies, in bytes; 0 where that cannot be told.
std::uint64_t room_at(const std::filesystem::path& directory);

}  // namespace abacus
