// Names of things: nodes and organisations are keys, jobs and leases are random bytes drawn by who makes them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace abacus {

/// N bytes that name one kind of thing; ids of different kinds do not mix. Ordered bytewise.
template <class Tag, std::size_t N>
struct Id {
  std::array<std::uint8_t, N> bytes{};

  static constexpr std::size_t kSize = N;

  bool operator==(const Id&) const = default;
  /// Ids are random or keys: the first word nearly always decides, without a call.
  std::strong_ordering operator<=>(const Id& other) const {
    if constexpr (N > sizeof(std::uint64_t)) {
      std::uint64_t a = first_word(), b = other.first_word();
      if (a != b) return a <=> b;
    }
    return bytes <=> other.bytes;
  }

  /// True for the all-zero id, which names nothing.
  bool empty() const { return *this == Id{}; }

  /// Lower-case hex, all of it.
  std::string to_string() const { return to_hex(bytes); }

  /// The first eight digits: for people, in tables and logs.
  std::string short_string() const { return to_string().substr(0, 8); }

  /// Inverse of to_string. Errors: `invalid` for anything but 2N hex digits.
  static Result<Id> parse(std::string_view text) {
    if (text.size() != 2 * N) return fail(ErrorCode::invalid, "'{}' is not an id of {} hex digits", text, 2 * N);
    TRY(Bytes raw, from_hex(text));
    Id id;
    std::copy(raw.begin(), raw.end(), id.bytes.begin());
    return id;
  }

 private:
  /// Its order is that of the bytes.
  std::uint64_t first_word() const {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return __builtin_bswap64(word);
  }
};

using NodeId = Id<struct NodeTag, 32>;    ///< A node's Ed25519 public key.
using OrgId = Id<struct OrgTag, 32>;      ///< An organisation's Ed25519 public key.
using JobId = Id<struct JobTag, 6>;       ///< Drawn by the custodian. Short, because people type it.
using LeaseId = Id<struct LeaseTag, 16>;  ///< Drawn by the buyer.
using Digest = Id<struct DigestTag, 32>;  ///< BLAKE2b-256 of content: names chunks and manifests.

/// One unit of a job: `index` is the array index (0 for a job that is no array).
struct TaskId {
  JobId job;
  std::uint32_t index = 0;

  auto operator<=>(const TaskId&) const = default;

  /// "JOB.INDEX".
  std::string to_string() const { return job.to_string() + "." + std::to_string(index); }

  /// Inverse of to_string; a bare job id means index 0. Errors: `invalid`.
  static Result<TaskId> parse(std::string_view text);
};

/// One try at a task. Numbers count up from 1 for as long as the custodian remembers the task.
struct AttemptId {
  TaskId task;
  std::uint32_t number = 0;

  auto operator<=>(const AttemptId&) const = default;

  /// "JOB.INDEX#NUMBER".
  std::string to_string() const { return task.to_string() + "#" + std::to_string(number); }
};

}  // namespace abacus
