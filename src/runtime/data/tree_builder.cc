// Walks by descriptor and never follows a symlink; files are read in chunks into the store.
#include "runtime/data/tree_builder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "runtime/data/chunk.h"
#include "runtime/data/tree_path.h"

namespace abacus {
namespace {

constexpr mode_t kModeBits = 0777;
constexpr mode_t kParentMode = 0755;

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

}  // namespace

Result<std::vector<std::string>> names_in(const Fd& directory) {
  TRY(Fd own, open_at(directory.get(), ".", O_RDONLY | O_DIRECTORY));
  std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(own.get()));
  if (!stream) return fail_errno("cannot list a directory");
  own.release();  // The stream closes it.
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* item = ::readdir(stream.get());
    if (!item && errno != 0) return fail_errno("cannot list a directory");
    if (!item) break;
    std::string name = item->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == Manifest::kEntriesMax) {
      return fail(ErrorCode::exhausted, "a directory of more than {} names", Manifest::kEntriesMax);
    }
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status TreeBuilder::add(const Fd& directory, const std::string& name, const std::string& tree_path) {
  TRY_STATUS(check_tree_path(tree_path));
  struct stat info {};
  if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return fail_errno(fmt::format("cannot read '{}'", tree_path));
  }
  if (S_ISLNK(info.st_mode)) return add_symlink(directory, name, tree_path, {info.st_dev, info.st_ino});
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::invalid,
                "'{}' is a device, socket or pipe: only files, directories and symlinks can be sent", tree_path);
  }
  // O_NONBLOCK: should a pipe have taken the name meanwhile, opening it must not wait for a writer.
  auto opened =
      open_at(directory.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (S_ISDIR(info.st_mode) ? O_DIRECTORY : 0));
  if (!opened) return fail(opened.error().in(tree_path));
  if (S_ISREG(info.st_mode)) return add_file(*opened, tree_path);
  TRY_STATUS(add_directory(tree_path, info.st_mode));
  return add_contents(*opened, tree_path);
}

Status TreeBuilder::add_contents(const Fd& directory, const std::string& tree_path) {
  TRY(std::vector<std::string> names, names_in(directory));
  for (const std::string& name : names) TRY_STATUS(add(directory, name, join(tree_path, name)));
  return {};
}

Status TreeBuilder::add_file(const Fd& file, const std::string& tree_path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(fmt::format("cannot read '{}'", tree_path));
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::invalid, "'{}' is no regular file", tree_path);
  Source source{info.st_dev, info.st_ino};
  TRY(bool fresh, is_new(tree_path, TreeEntry::Kind::file, source));
  if (!fresh) return {};
  TreeEntry entry;
  entry.path = tree_path;
  entry.mode = static_cast<std::uint16_t>((info.st_mode & kModeBits) | S_IRUSR);
  TRY_STATUS(read_chunks(file, entry));
  return insert(std::move(entry), source);
}

/// What was read is what the entry says, even of a file that is being written.
Status TreeBuilder::read_chunks(const Fd& file, TreeEntry& entry) {
  for (;;) {
    TRY(Bytes content, read_up_to(file.get(), kChunkBytes, fmt::format("cannot read '{}'", entry.path)));
    if (content.empty()) return {};
    TRY(Digest digest, store_.put(content));
    entry.size += content.size();
    entry.chunks.push_back(digest);
    if (entry.chunks.size() > kContentBytesMax / Digest::kSize) {
      return fail(ErrorCode::exhausted, "'{}' is larger than one manifest can describe", entry.path);
    }
    if (content.size() < kChunkBytes) return {};
  }
}

Status TreeBuilder::add_symlink(const Fd& directory, const std::string& name, const std::string& tree_path,
                                Source source) {
  TRY(bool fresh, is_new(tree_path, TreeEntry::Kind::symlink, source));
  if (!fresh) return {};
  std::string target(kTreePathBytesMax + 1, '\0');
  ssize_t size = ::readlinkat(directory.get(), name.c_str(), target.data(), target.size());
  if (size < 0) return fail_errno(fmt::format("cannot read the symlink '{}'", tree_path));
  target.resize(static_cast<std::size_t>(size));
  TRY_STATUS(check_link_target(tree_path, target));
  TreeEntry entry;
  entry.path = tree_path;
  entry.kind = TreeEntry::Kind::symlink;
  entry.target = std::move(target);
  return insert(std::move(entry), source);
}

Status TreeBuilder::add_directory(const std::string& tree_path, mode_t mode) {
  TRY_STATUS(check_tree_path(tree_path));
  TRY(bool fresh, is_new(tree_path, TreeEntry::Kind::directory, {}));
  if (!fresh) return {};
  TreeEntry entry;
  entry.path = tree_path;
  entry.kind = TreeEntry::Kind::directory;
  entry.mode = static_cast<std::uint16_t>((mode & kModeBits) | S_IRWXU);
  return insert(std::move(entry), {});
}

Result<bool> TreeBuilder::is_new(const std::string& tree_path, TreeEntry::Kind kind, Source source) const {
  auto found = items_.find(tree_path);
  if (found == items_.end()) return true;
  if (found->second.entry.kind == kind && found->second.source == source) return false;
  return fail(ErrorCode::invalid, "two different things would have the path '{}' in the tree", tree_path);
}

Status TreeBuilder::insert(TreeEntry entry, Source source) {
  std::string parent(tree_parent(entry.path));
  if (!parent.empty()) TRY_STATUS(add_directory(parent, kParentMode));
  if (items_.size() == Manifest::kEntriesMax) {
    return fail(ErrorCode::exhausted, "a tree of more than {} entries; pack large trees as an archive",
                Manifest::kEntriesMax);
  }
  std::string path = entry.path;
  items_.emplace(std::move(path), Item{std::move(entry), source});
  return {};
}

Result<Digest> TreeBuilder::finish(std::string_view owner) {
  Manifest manifest;
  for (auto& [path, item] : items_) manifest.entries.push_back(item.entry);
  TRY(Bytes encoded, encode_manifest(manifest));
  TRY(Digest digest, store_.put(encoded));
  std::vector<Digest> needed = {digest};
  for (const auto& [chunk, size] : manifest.chunk_sizes()) needed.push_back(chunk);
  TRY_STATUS(store_.pin(owner, needed));
  return digest;
}

}  // namespace abacus
