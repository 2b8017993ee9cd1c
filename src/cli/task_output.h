// What a task prints, read piece by piece and passed on.
#pragma once

#include <array>
#include <ostream>
#include <string>

#include "api/client.h"

namespace abacus {

/// Where output goes.
struct OutputSinks {
  std::ostream* out = nullptr;  ///< Null: not wanted.
  std::ostream* err = nullptr;
};

/// One task's stdout and stderr. With a prefix, whole lines only, each with the prefix before it.
class TaskOutput {
 public:
  TaskOutput(TaskId task, std::string prefix) : task_(task), prefix_(std::move(prefix)) {}

  /// Reads and prints what is there; true if something was. Errors: those of the API; may be called again.
  Result<bool> pump(const ApiClient& agent, const OutputSinks& sinks);

  /// A further attempt begins again at the start.
  void start_over() { streams_ = {}; }

  /// Everything was printed: the task has ended and both streams came to their end.
  bool at_end() const { return streams_[0].eof && streams_[1].eof; }

  /// Prints a last line that has no line end.
  void finish(const OutputSinks& sinks);

 private:
  struct Stream {
    std::uint64_t offset = 0;
    std::string partial;  ///< A line without its end yet.
    bool eof = false;
  };
  Result<bool> pump_one(const ApiClient& agent, LogStream which, Stream& stream, std::ostream& sink);
  void print(Stream& stream, const std::string& bytes, std::ostream& sink);

  TaskId task_;
  std::string prefix_;
  std::array<Stream, 2> streams_;
};

}  // namespace abacus
