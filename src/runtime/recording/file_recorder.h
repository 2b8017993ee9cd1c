// Records a driver's node to a file: docs/formats/recording.md says what is in it.
#pragma once

#include <spdlog/logger.h>

#include <filesystem>
#include <memory>

#include "core/recording/entry_writer.h"
#include "runtime/recording/background_writer.h"

namespace abacus {

struct FileRecorderOptions {
  std::filesystem::path file;
  std::uint64_t bytes_max = 1ull << 30;  ///< At which it stops.
  std::string version;                   ///< Of this program.
  std::shared_ptr<spdlog::logger> log;
};

/// Encodes on the driver's thread and writes on another one. Never holds up or ends the agent that it records.
class FileRecorder final : public Recorder {
 public:
  /// Goes on behind what the file holds. Errors: those of open_recording_file.
  static Result<std::unique_ptr<FileRecorder>> open(FileRecorderOptions options);

  FileRecorder(BackgroundWriterOptions options, Fd file, std::string version, std::uint64_t bytes_lost);

  void started(const NodeConfig& config, const std::vector<Record>& records, Now now, const Effects& effects) override;
  void handled(const Event& event, Now now, const Effects& effects) override;

 private:
  BackgroundWriter file_;
  EntryWriter entries_;
};

}  // namespace abacus
