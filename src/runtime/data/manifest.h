// A tree of files as data: names, kinds, modes and the chunks of each file. Its digest names the whole tree.
//
// Encoding: deterministic CBOR (RFC 8949, 4.2), [version, [entry, ...]] with version 1 and
// entry = [path, kind, mode, size, content], where path is a byte string, kind 0 a directory, 1 a file, 2 a symlink,
// and content a byte string: a file's chunk digests one after the other, a symlink's target, or nothing. Entries are
// sorted bytewise by path.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace abacus {

struct TreeEntry {
  enum class Kind : std::uint8_t { directory, file, symlink };

  std::string path;  ///< Obeys check_tree_path.
  Kind kind = Kind::file;
  std::uint16_t mode = 0;  ///< Permission bits (0777) of a file, with 0400, or directory, with 0700; 0 for a symlink.
  std::uint64_t size = 0;  ///< Of a file, in bytes.
  std::vector<Digest> chunks;  ///< Of a file, one for each kChunkBytes begun.
  std::string target;          ///< Of a symlink; obeys check_link_target.

  bool operator==(const TreeEntry&) const = default;
};

struct Manifest {
  static constexpr std::size_t kEntriesMax = 200'000;

  std::vector<TreeEntry> entries;  ///< Sorted by path; every parent is a directory among them.

  bool operator==(const Manifest&) const = default;

  /// The bytes of all files.
  std::uint64_t content_bytes() const;

  /// Every chunk once, with its uncompressed size.
  std::map<Digest, std::uint32_t> chunk_sizes() const;
};

/// The bytes whose digest_of names the tree. Errors: `invalid` for a tree against the rules, `exhausted` past
/// kEntriesMax or kContentBytesMax.
Result<Bytes> encode_manifest(const Manifest& manifest);

/// Inverse of encode_manifest, for bytes from anywhere; one tree has one encoding. Errors: `corrupt` for bytes that are
/// no manifest, `invalid` for a tree against the rules (the entry is named), `exhausted` past a limit, `unsupported`
/// for another version.
Result<Manifest> decode_manifest(BytesView bytes);

}  // namespace abacus
