// Every rule of a tree is checked in both directions, so that only one encoding of a tree exists.
#include "runtime/data/manifest.h"

#include <algorithm>
#include <set>

#include "protocol/cbor.h"
#include "runtime/data/chunk.h"
#include "runtime/data/tree_path.h"

namespace abacus {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kEntryFields = 5;
constexpr std::uint16_t kModeBits = 0777;
constexpr std::uint16_t kFileOwnerBits = 0400;
constexpr std::uint16_t kDirectoryOwnerBits = 0700;

Status check_mode(const TreeEntry& entry, std::uint16_t needed) {
  if ((entry.mode & ~kModeBits) != 0 || (entry.mode & needed) != needed) {
    return fail(ErrorCode::invalid, "mode {:o}: want permission bits only, {:o} among them", entry.mode, needed);
  }
  return {};
}

Status check_file(const TreeEntry& entry) {
  TRY_STATUS(check_mode(entry, kFileOwnerBits));
  std::uint64_t expected = entry.size / kChunkBytes + (entry.size % kChunkBytes != 0 ? 1 : 0);
  if (entry.chunks.size() != expected) {
    return fail(ErrorCode::invalid, "{} bytes in {} chunks: want {}", entry.size, entry.chunks.size(), expected);
  }
  return {};
}

Status check_kind(const TreeEntry& entry) {
  bool is_file = entry.kind == TreeEntry::Kind::file;
  if (!is_file && (entry.size != 0 || !entry.chunks.empty()))
    return fail(ErrorCode::invalid, "only files have content");
  switch (entry.kind) {
    case TreeEntry::Kind::directory: return check_mode(entry, kDirectoryOwnerBits);
    case TreeEntry::Kind::file: return check_file(entry);
    case TreeEntry::Kind::symlink:
      if (entry.mode != 0) return fail(ErrorCode::invalid, "a symlink has no mode of its own");
      return check_link_target(entry.path, entry.target);
  }
  return fail(ErrorCode::invalid, "unknown kind");
}

Status check_tree(const Manifest& manifest) {
  std::set<std::string_view> directories = {""};
  const TreeEntry* before = nullptr;
  for (const TreeEntry& entry : manifest.entries) {
    TRY_STATUS(check_tree_path(entry.path));
    if (auto good = check_kind(entry); !good) return fail(good.error().in(fmt::format("entry '{}'", entry.path)));
    if (before && before->path >= entry.path) {
      return fail(ErrorCode::invalid, "entry '{}' comes twice or out of order, after '{}'", entry.path, before->path);
    }
    if (!directories.contains(tree_parent(entry.path))) {
      return fail(ErrorCode::invalid, "entry '{}': its parent is no directory of the tree", entry.path);
    }
    if (entry.kind == TreeEntry::Kind::directory) directories.insert(entry.path);
    before = &entry;
  }
  return {};
}

Bytes content_field(const TreeEntry& entry) {
  if (entry.kind == TreeEntry::Kind::symlink) return {entry.target.begin(), entry.target.end()};
  Bytes digests;
  digests.reserve(entry.chunks.size() * Digest::kSize);
  for (const Digest& digest : entry.chunks) digests.insert(digests.end(), digest.bytes.begin(), digest.bytes.end());
  return digests;
}

Status read_content_field(TreeEntry& entry, BytesView content) {
  if (entry.kind == TreeEntry::Kind::symlink) {
    entry.target = as_text(content);
    return {};
  }
  if (content.size() % Digest::kSize != 0)
    return fail(ErrorCode::corrupt, "{} bytes are no list of digests", content.size());
  entry.chunks.resize(content.size() / Digest::kSize);
  for (std::size_t i = 0; i < entry.chunks.size(); ++i) {
    BytesView one = content.subspan(i * Digest::kSize, Digest::kSize);
    std::copy(one.begin(), one.end(), entry.chunks[i].bytes.begin());
  }
  return {};
}

Result<TreeEntry> read_entry(CborReader& in) {
  TreeEntry entry;
  TRY(std::size_t fields, in.array());
  if (fields != kEntryFields) return fail(ErrorCode::corrupt, "an entry of {} fields: want {}", fields, kEntryFields);
  TRY(BytesView path, in.bytes());
  TRY(std::uint64_t kind, in.unsigned_integer());
  TRY(std::uint64_t mode, in.unsigned_integer());
  TRY(entry.size, in.unsigned_integer());
  TRY(BytesView content, in.bytes());
  if (kind > static_cast<std::uint64_t>(TreeEntry::Kind::symlink))
    return fail(ErrorCode::corrupt, "unknown kind {}", kind);
  if (mode > kModeBits) return fail(ErrorCode::invalid, "mode {:o}: want permission bits only", mode);
  entry.path = as_text(path);
  entry.kind = static_cast<TreeEntry::Kind>(kind);
  entry.mode = static_cast<std::uint16_t>(mode);
  TRY_STATUS(read_content_field(entry, content));
  return entry;
}

Result<Manifest> read_manifest(BytesView bytes) {
  CborReader in(bytes, {.string_bytes = kContentBytesMax, .array_items = Manifest::kEntriesMax});
  TRY(std::size_t parts, in.array());
  TRY(std::uint64_t version, in.unsigned_integer());
  if (version != kVersion) return fail(ErrorCode::unsupported, "version {}: this program knows {}", version, kVersion);
  TRY(std::size_t count, in.array());
  if (parts != 2 || count > in.rest().size()) return fail(ErrorCode::corrupt, "not a list of entries");
  Manifest manifest;
  manifest.entries.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    TRY(TreeEntry entry, read_entry(in));
    manifest.entries.push_back(std::move(entry));
  }
  if (!in.at_end()) return fail(ErrorCode::corrupt, "byte {}: bytes left over", in.position());
  TRY_STATUS(check_tree(manifest));
  return manifest;
}

}  // namespace

std::uint64_t Manifest::content_bytes() const {
  std::uint64_t sum = 0;
  for (const TreeEntry& entry : entries) sum += entry.size;
  return sum;
}

std::map<Digest, std::uint32_t> Manifest::chunk_sizes() const {
  std::map<Digest, std::uint32_t> sizes;
  for (const TreeEntry& entry : entries) {
    for (std::size_t i = 0; i < entry.chunks.size(); ++i) {
      sizes[entry.chunks[i]] =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunkBytes, entry.size - i * kChunkBytes));
    }
  }
  return sizes;
}

Result<Bytes> encode_manifest(const Manifest& manifest) {
  if (manifest.entries.size() > Manifest::kEntriesMax) {
    return fail(ErrorCode::exhausted, "a tree of {} entries: the limit is {}", manifest.entries.size(),
                Manifest::kEntriesMax);
  }
  TRY_STATUS(check_tree(manifest));
  Bytes bytes;
  CborWriter out(bytes);
  out.array(2);
  out.unsigned_integer(kVersion);
  out.array(manifest.entries.size());
  for (const TreeEntry& entry : manifest.entries) {
    out.array(kEntryFields);
    out.bytes(as_bytes(entry.path));
    out.unsigned_integer(static_cast<std::uint64_t>(entry.kind));
    out.unsigned_integer(entry.mode);
    out.unsigned_integer(entry.size);
    out.bytes(content_field(entry));
  }
  if (bytes.size() > kContentBytesMax) {
    return fail(ErrorCode::exhausted,
                "the tree's manifest has {} bytes: the limit is {}; pack large trees as an archive", bytes.size(),
                kContentBytesMax);
  }
  return bytes;
}

Result<Manifest> decode_manifest(BytesView bytes) {
  if (bytes.size() > kContentBytesMax) {
    return fail(ErrorCode::exhausted, "a manifest of {} bytes: the limit is {}", bytes.size(), kContentBytesMax);
  }
  auto manifest = read_manifest(bytes);
  if (!manifest) return fail(manifest.error().in("manifest"));
  return manifest;
}

}  // namespace abacus
