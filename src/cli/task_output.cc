// Offsets and lines.
#include "cli/task_output.h"

namespace abacus {
namespace {

constexpr std::size_t kMaxLine = 64 << 10;  // a longer one is printed in parts

}  // namespace

Result<bool> TaskOutput::pump(const ApiClient& agent, const OutputSinks& sinks) {
  bool printed = false;
  std::pair<LogStream, std::ostream*> wanted[] = {{LogStream::standard_output, sinks.out},
                                                  {LogStream::standard_error, sinks.err}};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (!wanted[i].second) streams_[i].eof = true;
    if (streams_[i].eof) continue;
    TRY(bool some, pump_one(agent, wanted[i].first, streams_[i], *wanted[i].second));
    printed = printed || some;
  }
  return printed;
}

Result<bool> TaskOutput::pump_one(const ApiClient& agent, LogStream which, Stream& stream, std::ostream& sink) {
  bool printed = false;
  while (true) {
    TRY(LogPiece piece, agent.read_log(task_.to_string(), which, stream.offset));
    stream.offset = piece.next_offset;
    stream.eof = piece.eof;
    if (piece.bytes.empty()) return printed;
    print(stream, piece.bytes, sink);
    sink.flush();
    printed = true;
    if (piece.eof) return true;
  }
}

void TaskOutput::print(Stream& stream, const std::string& bytes, std::ostream& sink) {
  if (prefix_.empty()) {
    sink << bytes;
    return;
  }
  stream.partial += bytes;
  std::size_t begin = 0;
  for (std::size_t end; (end = stream.partial.find('\n', begin)) != std::string::npos; begin = end + 1) {
    sink << prefix_ << std::string_view(stream.partial).substr(begin, end - begin) << '\n';
  }
  stream.partial.erase(0, begin);
  if (stream.partial.size() < kMaxLine) return;
  sink << prefix_ << stream.partial << '\n';
  stream.partial.clear();
}

void TaskOutput::finish(const OutputSinks& sinks) {
  std::ostream* wanted[] = {sinks.out, sinks.err};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (wanted[i] && !streams_[i].partial.empty()) *wanted[i] << prefix_ << streams_[i].partial << '\n' << std::flush;
    streams_[i].partial.clear();
  }
}

}  // namespace abacus
