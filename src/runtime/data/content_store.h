// Content by digest on disk: compressed, verified, bounded, and kept for as long as somebody needs it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "runtime/data/pin_book.h"

namespace abacus {

/// DIRECTORY/objects/DIGEST is one zstd frame; tmp/ holds unfinished writes (emptied at open), damaged/ what was found
/// corrupt, pins/ who needs what. One process at a time uses the directory; its agent's DirectoryLock sees to that.
///
/// Durability: what is written is not synced at once. pin() syncs the objects that it names and that are there; when it
/// returns they survive a crash of the host. Others may be lost or torn by one, so an object found at open is verified
/// before has() or put() relies on it.
///
/// Room: content that nobody pins is a cache. It is evicted, least recently used first, when room is needed; pinned and
/// held content never is.
///
/// Threads: every call from any thread; calls block on the disk and burn CPU (hash, zstd), so they belong on a pool.
class ContentStore {
 public:
  /// While one lives, nothing put, fetched or found in the store since its birth is evicted: covers the time between
  /// putting and pinning. Must not outlive the store.
  class Hold {
   public:
    explicit Hold(ContentStore& store);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    ContentStore& store_;
    std::uint64_t since_;
  };

  struct Usage {
    std::uint64_t bytes = 0;         ///< Compressed, of all objects.
    std::uint64_t pinned_bytes = 0;  ///< Of those that somebody pins.
    std::uint64_t cap_bytes = 0;
    std::size_t objects = 0;
  };

  /// Opens or creates a store of at most `cap_bytes` of compressed objects. Errors: `denied`, `exhausted` and others as
  /// code_of_errno, `corrupt` for a damaged list of pins.
  static Result<std::unique_ptr<ContentStore>> open(const std::filesystem::path& directory, std::uint64_t cap_bytes);

  ContentStore(const ContentStore&) = delete;
  ContentStore& operator=(const ContentStore&) = delete;

  /// Stores content of at most kContentBytesMax. Errors: `invalid` if it is larger; `exhausted` if the cap leaves no
  /// room that can be evicted, or the disk is full.
  Result<Digest> put(BytesView content);

  /// Stores a frame from elsewhere after verifying it. Errors: as put, and `corrupt` if its content is not `digest`'s.
  Status put_frame(const Digest& digest, BytesView frame);

  /// The content, verified. Errors: `not_found`; `corrupt`, the damaged object being set aside so that it can be put
  /// again.
  Result<Bytes> get(const Digest& digest);

  /// The frame as stored, its content verified. Errors: as get.
  Result<Bytes> get_frame(const Digest& digest);

  /// Is it there? One that an earlier run has left is read and verified the first time.
  bool has(const Digest& digest);

  /// Adds the digests to what `owner` needs, whether they are there yet or not. On return both this list and those of
  /// the objects that are there are durable. Pins survive restarts. Errors: `invalid` for a bad owner name; others as
  /// code_of_errno.
  Status pin(std::string_view owner, std::span<const Digest> digests);

  /// Drops all that `owner` needs. Nothing is deleted before the room is wanted.
  Status unpin(std::string_view owner);

  /// Everyone who pins something, sorted: an agent that starts unpins those that it no longer knows.
  std::vector<std::string> owners() const;

  /// Deletes everything that is neither pinned nor held. Returns the bytes freed.
  std::uint64_t collect();

  Usage usage() const;

 private:
  struct Object {
    std::uint64_t bytes = 0;
    std::uint64_t touched = 0;  ///< clock_ at the last use.
    std::uint64_t written = 0;  ///< clock_ when it was published; 0: by an earlier run.
    bool verified = false;      ///< Its bytes were seen to be right in this run.
    bool durable = false;       ///< It was synced in this run.
  };
  using Written = std::vector<std::pair<Digest, std::uint64_t>>;  ///< Objects and their `written`.

  ContentStore(std::filesystem::path directory, std::uint64_t cap_bytes, PinBook pins);

  Status scan();
  enum class Presence { absent, unverified, verified };
  Presence touch(const Digest& digest);
  Written not_durable(std::span<const Digest> digests) const;
  Status sync_objects(const Written& objects) const;
  Status write_object(const Digest& digest, BytesView frame);
  Status write_temporary(const std::filesystem::path& file, BytesView frame);
  Status publish(const Digest& digest, const std::filesystem::path& temporary, std::uint64_t bytes);
  Result<std::filesystem::path> reserve(std::uint64_t bytes);
  std::uint64_t evict(std::uint64_t wanted_bytes);
  void set_aside(const Digest& digest);
  Result<Bytes> read_object(const Digest& digest);
  Result<std::pair<Bytes, Bytes>> read_verified(const Digest& digest);
  std::filesystem::path object_path(const Digest& digest) const;

  const std::filesystem::path directory_;
  const std::uint64_t cap_bytes_;
  std::mutex sync_mutex_;  ///< Held by pin(); taken before mutex_.
  mutable std::mutex mutex_;
  // All below are guarded by mutex_.
  PinBook pins_;
  std::map<Digest, Object> objects_;
  std::multiset<std::uint64_t> holds_;
  std::uint64_t clock_ = 0;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t temporaries_ = 0;
};

}  // namespace abacus
