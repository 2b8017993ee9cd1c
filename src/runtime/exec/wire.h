// The control protocol between the agent's executor and a lease's shim: messages as plain structs, and their bytes.
//
// Both ends live on one machine and speak over a unix stream socket. Version 1:
//
//   frame   = u32 length of the rest, u8 type, body          (at most kMaxFrameBytes after the length)
//   numbers = little-endian, fixed width; bool = u8 0 or 1; string = u32 length, bytes; list = u32 count, items
//   attempt = 6 bytes job, u32 index, u32 number;  lease = 16 bytes
//
// Agents are upgraded while shims run, so an agent must be able to speak to an older shim and the reverse:
// - new fields are appended to a body; a reader ignores bytes after the fields it knows;
// - a reader skips frames whose type it does not know (`UnknownMessage`);
// - each end says its version in Hello, and an agent sends an older shim only what that version knows.
//
// A conversation: the agent connects and says Hello; the shim answers Hello, then Started for each running task and
// Ended for each ended one not yet forgotten, then Listed. From there commands and reports flow freely.
// This file depends on nothing but the standard library, and decoding is pure: any bytes may be fed to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "runtime/exec/exit_record.h"

namespace abacus::wire {

inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::size_t kMaxFrameBytes = 4u << 20;  ///< Above ARG_MAX of Linux, so every launchable command fits.

/// First message of both ends. The agent sends a zero lease and pid.
struct Hello {
  std::uint16_t version = kVersion;
  LeaseId lease;
  std::uint32_t pid = 0;
  bool operator==(const Hello&) const = default;
};

/// Run a command. Repeating an attempt the shim knows reports its state instead.
struct Launch {
  AttemptId attempt;
  std::string folder;    ///< Base name of the attempt's files in the lease's directory.
  std::string work_dir;  ///< Where to run; empty: in `folder`, created when missing.
  std::vector<std::string> argv;
  std::vector<std::string> env;
  bool limits = false;  ///< Run in a cgroup of its own with the three limits below (0: no such limit).
  std::uint32_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t pids_max = 0;
  std::uint64_t output_cap_bytes = 0;  ///< Of each of stdout and stderr.
  Duration time_limit;                 ///< 0: none.
  Duration grace;                      ///< Between SIGTERM and SIGKILL when the time limit or the lease's end strikes.
  std::vector<std::uint32_t> cpus;     ///< CPUs it may use; empty: all.
  bool operator==(const Launch&) const = default;
};

/// SIGTERM now, SIGKILL after `grace`. The nearest of several kill times counts.
struct Interrupt {
  AttemptId attempt;
  Duration grace;
  bool operator==(const Interrupt&) const = default;
};

/// The agent has what it needs of an ended attempt: delete its record and files.
struct Forget {
  AttemptId attempt;
  std::string folder;
  bool operator==(const Forget&) const = default;
};

/// No more launches. The shim exits once every task has ended and been forgotten. `kill`: end and forget all now.
struct Close {
  bool kill = false;
  bool operator==(const Close&) const = default;
};

/// The lease's end moved: what waits for its agent does so until later.
struct Extend {
  WallTime deadline;
  bool operator==(const Extend&) const = default;
};

struct Started {
  AttemptId attempt;
  std::uint32_t pid = 0;
  WallTime wall;
  bool operator==(const Started&) const = default;
};

/// Sent only after the record is on disk.
struct Ended {
  AttemptId attempt;
  ExitRecord record;
  bool operator==(const Ended&) const = default;
};

/// The state after Hello is complete.
struct Listed {
  bool operator==(const Listed&) const = default;
};

/// The other end broke the protocol; the connection closes after this.
struct Refused {
  std::string reason;
  bool operator==(const Refused&) const = default;
};

/// A frame of a type this version does not know, to be skipped.
struct UnknownMessage {
  std::uint8_t type = 0;
  bool operator==(const UnknownMessage&) const = default;
};

using Message =
    std::variant<Hello, Launch, Interrupt, Forget, Close, Started, Ended, Listed, Refused, Extend, UnknownMessage>;

/// Appends one whole frame to `out`. An UnknownMessage must not be encoded.
void encode(const Message& message, std::string& out);

/// Decodes a frame's content (after the length). None: malformed; there is nothing more to say about such bytes.
std::optional<Message> decode(std::string_view frame);

/// Cuts frames out of a byte stream.
class FrameReader {
 public:
  /// Takes bytes as they arrive.
  void push(std::string_view bytes) { buffer_.append(bytes); }

  /// The next whole frame's content, valid until the next push; none when more bytes are needed or the stream is
  /// broken.
  std::optional<std::string_view> next();

  /// A length above kMaxFrameBytes, or 0, was announced: the stream is beyond repair.
  bool broken() const { return broken_; }

 private:
  std::string buffer_;
  std::size_t consumed_ = 0;
  bool broken_ = false;
};

}  // namespace abacus::wire
