// Once the file is full or broken nothing is encoded any more.
#include "runtime/recording/file_recorder.h"

#include "base/size.h"
#include "runtime/recording/recording_file.h"

namespace abacus {

Result<std::unique_ptr<FileRecorder>> FileRecorder::open(FileRecorderOptions options) {
  TRY(RecordingFile file, open_recording_file(options.file, options.version));
  if (file.bytes_lost > 0) {
    options.log->warn("the recording {} ended in the middle of an entry: its last {} bytes are cut off",
                      options.file.native(), file.bytes_lost);
  }
  options.log->info("records to {}, {} so far, {} at most", options.file.native(), size_text(file.size),
                    size_text(options.bytes_max));
  BackgroundWriterOptions writer{options.file.native(), file.size, options.bytes_max, options.log};
  return std::make_unique<FileRecorder>(std::move(writer), std::move(file.fd), options.version, file.bytes_lost);
}

FileRecorder::FileRecorder(BackgroundWriterOptions options, Fd file, std::string version, std::uint64_t bytes_lost)
    : file_(std::move(file), std::move(options)),
      entries_(std::move(version), bytes_lost, [this](BytesView frames) { file_.append(frames); }) {}

void FileRecorder::started(const NodeConfig& config, const std::vector<Record>& records, Now now,
                           const Effects& effects) {
  if (!file_.stopped()) entries_.started(config, records, now, effects);
}

void FileRecorder::handled(const Event& event, Now now, const Effects& effects) {
  if (!file_.stopped()) entries_.handled(event, now, effects);
}

}  // namespace abacus
