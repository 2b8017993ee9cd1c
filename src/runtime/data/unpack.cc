// Unpacks beside the destination and renames; writes into an existing folder only when told to.
#include "runtime/data/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "runtime/data/chunk.h"
#include "runtime/data/tree_path.h"
#include "runtime/posix/fd.h"

namespace abacus {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPrivateMode = 0700;
constexpr const char* kTemporaryName = ".abacus-unpack.partial";

/// Writes the entries of one tree below an open directory.
class TreeWriter {
 public:
  TreeWriter(ContentStore& store, Fd root, bool replace) : store_(store), root_(std::move(root)), replace_(replace) {}

  Status write(const Manifest& manifest) {
    for (const TreeEntry& entry : manifest.entries) {
      if (auto written = write_entry(entry); !written) return fail(written.error().in(fmt::format("'{}'", entry.path)));
    }
    return {};
  }

 private:
  Status write_entry(const TreeEntry& entry) {
    TRY_STATUS(enter(tree_parent(entry.path)));
    std::string leaf(tree_leaf(entry.path));
    if (entry.kind == TreeEntry::Kind::directory) return make_directory(leaf, entry.mode);
    std::string fresh = replace_ ? kTemporaryName : leaf;
    if (replace_) ::unlinkat(parent_.get(), fresh.c_str(), 0);
    auto written = entry.kind == TreeEntry::Kind::file ? write_file(fresh, entry) : make_symlink(fresh, entry.target);
    if (written && replace_ && ::renameat(parent_.get(), fresh.c_str(), parent_.get(), leaf.c_str()) != 0) {
      written = errno == EISDIR ? fail(ErrorCode::already_exists, "a directory is in its place")
                                : fail_errno("cannot rename");
    }
    if (!written) ::unlinkat(parent_.get(), fresh.c_str(), 0);
    return written;
  }

  /// Opens the parent directory component by component; entries of one directory come one after the other mostly.
  Status enter(std::string_view path) {
    if (parent_.valid() && parent_path_ == path) return {};
    TRY(Fd at, open_at(root_.get(), ".", O_RDONLY | O_DIRECTORY));
    for (std::string_view rest = path; !rest.empty();) {
      std::string name(rest.substr(0, rest.find('/')));
      TRY(at, open_at(at.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
    parent_ = std::move(at);
    parent_path_ = path;
    return {};
  }

  Status make_directory(const std::string& leaf, mode_t mode) {
    bool made = ::mkdirat(parent_.get(), leaf.c_str(), kPrivateMode) == 0;
    if (!made && !(replace_ && errno == EEXIST)) return fail_errno("cannot make the directory");
    auto opened = open_at(parent_.get(), leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!opened && !made) return fail(ErrorCode::already_exists, "something that is no directory is in its place");
    TRY(Fd directory, std::move(opened));
    if (made && ::fchmod(directory.get(), mode) != 0) return fail_errno("cannot set the mode");
    return {};
  }

  Status write_file(const std::string& leaf, const TreeEntry& entry) {
    TRY(Fd file, open_at(parent_.get(), leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    std::uint64_t left = entry.size;
    for (const Digest& digest : entry.chunks) {
      TRY(Bytes content, store_.get(digest));
      if (content.size() != std::min<std::uint64_t>(left, kChunkBytes)) {
        return fail(ErrorCode::corrupt, "the manifest gives chunk {} another size than it has", digest.to_string());
      }
      TRY_STATUS(write_all(file.get(), content, "cannot write"));
      left -= content.size();
    }
    if (::fchmod(file.get(), entry.mode) != 0) return fail_errno("cannot set the mode");
    return {};
  }

  Status make_symlink(const std::string& leaf, const std::string& target) {
    if (::symlinkat(target.c_str(), parent_.get(), leaf.c_str()) != 0) return fail_errno("cannot make the symlink");
    return {};
  }

  ContentStore& store_;
  Fd root_;
  bool replace_;
  Fd parent_;
  std::string parent_path_;
};

Status check_room(const Manifest& manifest, std::uint64_t bytes_max) {
  if (manifest.content_bytes() <= bytes_max) return {};
  return fail(ErrorCode::exhausted, "the files have {} bytes, there is room for {}", manifest.content_bytes(),
              bytes_max);
}

Status write_below(ContentStore& store, const Manifest& manifest, const fs::path& directory, bool replace) {
  TRY(Fd root, open_at(AT_FDCWD, directory.string(), O_RDONLY | O_DIRECTORY));
  auto written = TreeWriter(store, std::move(root), replace).write(manifest);
  if (!written) return fail(written.error().in("unpacking into " + directory.string()));
  return {};
}

/// Without a trailing slash, so that it has a last name and a parent.
Result<fs::path> named(const fs::path& destination) {
  std::error_code error;
  fs::path absolute = fs::absolute(destination, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  if (error || !absolute.has_filename()) return fail(ErrorCode::invalid, "cannot unpack to '{}'", destination.string());
  return absolute;
}

}  // namespace

Result<Manifest> load_manifest(ContentStore& store, const Digest& digest) {
  TRY(Bytes bytes, store.get(digest));
  return decode_manifest(bytes);
}

Status pin_tree(ContentStore& store, std::string_view owner, const Digest& digest) {
  TRY(Manifest manifest, load_manifest(store, digest));
  std::vector<Digest> content{digest};
  for (const auto& [chunk, size] : manifest.chunk_sizes()) content.push_back(chunk);
  return store.pin(owner, content);
}

Status unpack(ContentStore& store, const Manifest& manifest, const fs::path& destination, std::uint64_t bytes_max) {
  TRY_STATUS(check_room(manifest, bytes_max));
  ContentStore::Hold hold(store);
  TRY(fs::path target, named(destination));
  fs::path partial = target.parent_path() / fmt::format(".{}.partial", target.filename().string());
  std::error_code error;
  fs::remove_all(partial, error);
  if (::mkdir(partial.c_str(), kPrivateMode) != 0) return fail_errno("cannot make " + partial.string());
  auto done = write_below(store, manifest, partial, false);
  if (done && ::rename(partial.c_str(), target.c_str()) != 0) {
    done = fail_errno(fmt::format("cannot move the unpacked tree to {}", target.string()));
  }
  if (!done) fs::remove_all(partial, error);
  return done;
}

Status unpack_over(ContentStore& store, const Manifest& manifest, const fs::path& destination,
                   std::uint64_t bytes_max) {
  TRY_STATUS(check_room(manifest, bytes_max));
  ContentStore::Hold hold(store);
  std::error_code error;
  fs::create_directories(destination, error);
  if (error) return fail(code_of_errno(error.value()), "cannot make {}: {}", destination.string(), error.message());
  return write_below(store, manifest, destination, true);
}

std::uint64_t room_at(const fs::path& directory) {
  std::error_code error;
  fs::space_info space = fs::space(directory, error);
  return error ? 0 : space.available;
}

}  // namespace abacus
