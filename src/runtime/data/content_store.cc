// One file an object, written aside and renamed; the least recently used goes when room is needed.
#include "runtime/data/content_store.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/data/chunk.h"
#include "runtime/posix/fd.h"

namespace abacus {
namespace {

namespace fs = std::filesystem;

/// Of damaged objects so many are kept for whoever wants to look into it.
constexpr std::ptrdiff_t kDamagedMax = 64;

/// Eviction frees this part of the cap beyond what is wanted, so that not every put has to look for victims.
constexpr std::uint64_t kEvictionSlackDivisor = 16;

/// More objects than this are synced by one flush of the file system: it costs less than as many of single files.
constexpr std::size_t kSyncedOneByOneMax = 4;

Status make_directories(const fs::path& directory) {
  std::error_code error;
  fs::remove_all(directory / "tmp", error);
  for (const char* name : {"objects", "tmp", "damaged", "pins"}) {
    fs::create_directories(directory / name, error);
    if (error) {
      return fail(code_of_errno(error.value()), "cannot create {}: {}", (directory / name).string(), error.message());
    }
  }
  return sync_directory(directory);
}

}  // namespace

ContentStore::Hold::Hold(ContentStore& store) : store_(store) {
  std::lock_guard guard(store_.mutex_);
  since_ = store_.clock_ + 1;
  store_.holds_.insert(since_);
}

ContentStore::Hold::~Hold() {
  std::lock_guard guard(store_.mutex_);
  store_.holds_.erase(store_.holds_.find(since_));
}

ContentStore::ContentStore(fs::path directory, std::uint64_t cap_bytes, PinBook pins)
    : directory_(std::move(directory)), cap_bytes_(cap_bytes), pins_(std::move(pins)) {}

Result<std::unique_ptr<ContentStore>> ContentStore::open(const fs::path& directory, std::uint64_t cap_bytes) {
  if (sodium_init() < 0) return fail(ErrorCode::internal, "libsodium cannot be initialised");
  TRY_STATUS(make_directories(directory));
  TRY(PinBook pins, PinBook::open(directory / "pins"));
  std::unique_ptr<ContentStore> store(new ContentStore(directory, cap_bytes, std::move(pins)));
  TRY_STATUS(store->scan());
  return store;
}

Status ContentStore::scan() {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory_ / "objects", error)) {
    auto digest = Digest::parse(item.path().filename().string());
    std::uint64_t bytes = item.file_size(error);
    if (!digest || error) continue;
    objects_[*digest].bytes = bytes;
    used_bytes_ += bytes;
  }
  if (error)
    return fail(code_of_errno(error.value()), "cannot list {}/objects: {}", directory_.string(), error.message());
  return {};
}

ContentStore::Presence ContentStore::touch(const Digest& digest) {
  std::lock_guard guard(mutex_);
  auto found = objects_.find(digest);
  if (found == objects_.end()) return Presence::absent;
  found->second.touched = ++clock_;
  return found->second.verified ? Presence::verified : Presence::unverified;
}

bool ContentStore::has(const Digest& digest) {
  Presence presence = touch(digest);
  return presence == Presence::verified || (presence == Presence::unverified && read_verified(digest).has_value());
}

Result<Digest> ContentStore::put(BytesView content) {
  if (content.size() > kContentBytesMax) {
    return fail(ErrorCode::invalid, "content of {} bytes: the limit is {}", content.size(), kContentBytesMax);
  }
  Digest digest = digest_of(content);
  if (!has(digest)) TRY_STATUS(write_object(digest, compress(content)));
  return digest;
}

Status ContentStore::put_frame(const Digest& digest, BytesView frame) {
  auto content = open_frame(digest, frame);
  if (!content) return fail(content.error());
  return has(digest) ? Status() : write_object(digest, frame);
}

Status ContentStore::write_object(const Digest& digest, BytesView frame) {
  TRY(fs::path temporary, reserve(frame.size()));
  auto written = write_temporary(temporary, frame);
  std::lock_guard guard(mutex_);
  reserved_bytes_ -= frame.size();
  if (written) written = publish(digest, temporary, frame.size());
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<fs::path> ContentStore::reserve(std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  std::uint64_t total = used_bytes_ + reserved_bytes_ + bytes;
  if (total > cap_bytes_) total -= evict(total - cap_bytes_ + cap_bytes_ / kEvictionSlackDivisor);
  if (total > cap_bytes_) {
    return fail(
        ErrorCode::exhausted,
        "the content store {} is full: {} bytes are needed or being written, {} more are wanted, the cap is {}; "
        "raise the cap or finish jobs",
        directory_.string(), used_bytes_ + reserved_bytes_, bytes, cap_bytes_);
  }
  reserved_bytes_ += bytes;
  return directory_ / "tmp" / std::to_string(temporaries_++);
}

Status ContentStore::write_temporary(const fs::path& file, BytesView frame) {
  TRY(Fd fd, open_at(AT_FDCWD, file.string(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  return write_all(fd.get(), frame, fmt::format("cannot write {}", file.string()));
}

Status ContentStore::publish(const Digest& digest, const fs::path& temporary, std::uint64_t bytes) {
  if (::rename(temporary.c_str(), object_path(digest).c_str()) != 0) {
    return fail_errno(fmt::format("cannot rename {} into place", temporary.string()));
  }
  Object& object = objects_[digest];  // Another writer of the same content may have been first.
  used_bytes_ += bytes - object.bytes;
  ++clock_;
  object = {bytes, clock_, clock_, true, false};
  return {};
}

std::uint64_t ContentStore::evict(std::uint64_t wanted_bytes) {
  std::uint64_t oldest_hold = holds_.empty() ? UINT64_MAX : *holds_.begin();
  std::vector<std::pair<std::uint64_t, Digest>> victims;
  for (const auto& [digest, object] : objects_) {
    if (!pins_.pinned(digest) && object.touched < oldest_hold) victims.emplace_back(object.touched, digest);
  }
  std::sort(victims.begin(), victims.end());
  std::uint64_t freed = 0;
  for (const auto& [touched, digest] : victims) {
    if (freed >= wanted_bytes) break;
    if (::unlink(object_path(digest).c_str()) != 0 && errno != ENOENT) continue;
    freed += objects_[digest].bytes;
    objects_.erase(digest);
  }
  used_bytes_ -= freed;
  return freed;
}

std::uint64_t ContentStore::collect() {
  std::lock_guard guard(mutex_);
  return evict(UINT64_MAX);
}

Result<Bytes> ContentStore::get(const Digest& digest) {
  TRY(auto both, read_verified(digest));
  return std::move(both.second);
}

Result<Bytes> ContentStore::get_frame(const Digest& digest) {
  TRY(auto both, read_verified(digest));
  return std::move(both.first);
}

/// Frame and content.
Result<std::pair<Bytes, Bytes>> ContentStore::read_verified(const Digest& digest) {
  if (touch(digest) == Presence::absent)
    return fail(ErrorCode::not_found, "content {} is not in the store", digest.to_string());
  TRY(Bytes frame, read_object(digest));
  auto content = open_frame(digest, frame);
  if (content) {
    std::lock_guard guard(mutex_);
    if (auto found = objects_.find(digest); found != objects_.end()) found->second.verified = true;
    return std::pair(std::move(frame), std::move(*content));
  }
  set_aside(digest);
  return fail(content.error().in(fmt::format("{}, set aside", object_path(digest).string())));
}

Result<Bytes> ContentStore::read_object(const Digest& digest) {
  std::string path = object_path(digest).string();
  auto opened = open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW);
  if (!opened && opened.error().code == ErrorCode::not_found) set_aside(digest);
  TRY(Fd fd, std::move(opened));
  return read_up_to(fd.get(), 2 * kContentBytesMax, fmt::format("cannot read {}", path));
}

void ContentStore::set_aside(const Digest& digest) {
  std::lock_guard guard(mutex_);
  std::error_code error;
  fs::path damaged = directory_ / "damaged";
  auto kept = std::distance(fs::directory_iterator(damaged, error), fs::directory_iterator());
  if (kept < kDamagedMax) fs::rename(object_path(digest), damaged / digest.to_string(), error);
  fs::remove(object_path(digest), error);
  auto found = objects_.find(digest);
  if (found == objects_.end()) return;
  used_bytes_ -= found->second.bytes;
  objects_.erase(found);
}

Status ContentStore::pin(std::string_view owner, std::span<const Digest> digests) {
  std::lock_guard sync_guard(sync_mutex_);
  Written unsynced;
  {
    std::lock_guard guard(mutex_);
    TRY_STATUS(pins_.add(owner, digests));
    unsynced = not_durable(digests);
  }
  if (unsynced.empty()) return {};
  TRY_STATUS(sync_objects(unsynced));
  std::lock_guard guard(mutex_);
  for (const auto& [digest, written] : unsynced) {
    auto found = objects_.find(digest);
    if (found != objects_.end() && found->second.written == written) found->second.durable = true;
  }
  return {};
}

ContentStore::Written ContentStore::not_durable(std::span<const Digest> digests) const {
  Written unsynced;
  for (const Digest& digest : digests) {
    auto found = objects_.find(digest);
    if (found != objects_.end() && !found->second.durable) unsynced.emplace_back(digest, found->second.written);
  }
  return unsynced;
}

Status ContentStore::sync_objects(const Written& objects) const {
  fs::path directory = directory_ / "objects";
  if (objects.size() > kSyncedOneByOneMax) {
    TRY(Fd fd, open_at(AT_FDCWD, directory.string(), O_RDONLY | O_DIRECTORY));
    if (::syncfs(fd.get()) != 0)
      return fail_errno(fmt::format("cannot sync the file system of {}", directory.string()));
    return {};
  }
  for (const auto& [digest, written] : objects) {
    std::string path = object_path(digest).string();
    TRY(Fd fd, open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW));
    if (::fdatasync(fd.get()) != 0) return fail_errno(fmt::format("cannot sync {}", path));
  }
  return sync_directory(directory);
}

Status ContentStore::unpin(std::string_view owner) {
  std::lock_guard guard(mutex_);
  return pins_.remove(owner);
}

std::vector<std::string> ContentStore::owners() const {
  std::lock_guard guard(mutex_);
  return pins_.owners();
}

ContentStore::Usage ContentStore::usage() const {
  std::lock_guard guard(mutex_);
  Usage usage{used_bytes_, 0, cap_bytes_, objects_.size()};
  for (const auto& [digest, object] : objects_) {
    if (pins_.pinned(digest)) usage.pinned_bytes += object.bytes;
  }
  return usage;
}

fs::path ContentStore::object_path(const Digest& digest) const { return directory_ / "objects" / digest.to_string(); }

}  // namespace abacus
