// Sources and output patterns to tree entries; a bad output is left out by name, the others are kept.
#include "runtime/data/pack.h"

#include <fcntl.h>
#include <fnmatch.h>

#include <cerrno>

#include "runtime/data/tree_builder.h"
#include "runtime/data/tree_path.h"

namespace abacus {
namespace {

Status add_source(TreeBuilder& builder, const PackSource& source) {
  struct stat info {};
  if (::stat(source.source.c_str(), &info) != 0) return fail_errno("cannot read it");
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::invalid, "it is a device, socket or pipe: only files and directories can be sent");
  }
  TRY(Fd fd, open_at(AT_FDCWD, source.source.string(), O_RDONLY | O_NONBLOCK));
  bool to_root = source.name == ".";
  if (!to_root) TRY_STATUS(check_tree_path(source.name));
  if (S_ISREG(info.st_mode)) {
    if (to_root) return fail(ErrorCode::invalid, "a file needs a name in the tree; '.' is for directories");
    return builder.add_file(fd, source.name);
  }
  if (to_root) return builder.add_contents(fd, "");
  TRY_STATUS(builder.add_directory(source.name, info.st_mode));
  return builder.add_contents(fd, source.name);
}

bool is_glob(std::string_view component) { return component.find_first_of("*?[\\") != std::string_view::npos; }

/// Walks one pattern through the directories; `matches` counts what was found.
class OutputFinder {
 public:
  explicit OutputFinder(TreeBuilder& builder) : builder_(builder) {}

  Status find(const Fd& directory, const std::string& prefix, std::string_view pattern) {
    std::size_t slash = pattern.find('/');
    std::string component(pattern.substr(0, slash));
    bool last = slash == std::string_view::npos;
    std::string_view rest = last ? std::string_view() : pattern.substr(slash + 1);
    std::vector<std::string> names = {component};
    if (is_glob(component)) {
      TRY(names, names_in(directory));
      std::erase_if(
          names, [&](const std::string& name) { return ::fnmatch(component.c_str(), name.c_str(), FNM_PERIOD) != 0; });
    }
    for (const std::string& name : names) TRY_STATUS(enter(directory, name, prefix + name, rest, last));
    return {};
  }

  std::size_t matches() const { return matches_; }

 private:
  Status enter(const Fd& directory, const std::string& name, const std::string& path, std::string_view rest,
               bool last) {
    struct stat info {};
    if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};
      return fail_errno(fmt::format("cannot read '{}'", path));
    }
    if (last) {
      ++matches_;
      return builder_.add(directory, name, path);
    }
    if (!S_ISDIR(info.st_mode)) return {};
    TRY(Fd below, open_at(directory.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return find(below, path + "/", rest);
  }

  TreeBuilder& builder_;
  std::size_t matches_ = 0;
};

Status add_pattern(TreeBuilder& builder, const Fd& work_dir, std::string_view pattern) {
  while (pattern.size() > 1 && pattern.ends_with('/')) pattern.remove_suffix(1);
  TRY_STATUS(check_tree_path(pattern));
  OutputFinder finder(builder);
  TRY_STATUS(finder.find(work_dir, "", pattern));
  if (finder.matches() == 0) return fail(ErrorCode::not_found, "the task left nothing that matches '{}'", pattern);
  return {};
}

/// Is this the fault of one output, so that the others can still be sent?
bool concerns_one_output(ErrorCode code) {
  return code == ErrorCode::invalid || code == ErrorCode::not_found || code == ErrorCode::denied;
}

}  // namespace

Result<Digest> pack(ContentStore& store, std::string_view owner, const std::vector<PackSource>& sources) {
  TreeBuilder builder(store);
  for (const PackSource& source : sources) {
    if (auto added = add_source(builder, source); !added) {
      return fail(added.error().in(fmt::format("input {}", source.source.string())));
    }
  }
  return builder.finish(owner);
}

Result<PackedOutputs> pack_outputs(ContentStore& store, std::string_view owner, const std::filesystem::path& work_dir,
                                   const std::vector<std::string>& patterns) {
  TRY(Fd directory, open_at(AT_FDCWD, work_dir.string(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TreeBuilder builder(store);
  PackedOutputs packed;
  for (const std::string& pattern : patterns) {
    auto added = add_pattern(builder, directory, pattern);
    if (!added && !concerns_one_output(added.error().code)) return fail(added.error().in("output " + pattern));
    if (!added) packed.problems.push_back({pattern, added.error()});
  }
  TRY(packed.manifest, builder.finish(owner));
  return packed;
}

}  // namespace abacus
