// The file of a recording, made ready to be written on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "runtime/posix/fd.h"

namespace abacus {

struct RecordingFile {
  Fd fd;                         ///< At the end; locked against other writers until it is closed.
  std::uint64_t size = 0;        ///< Header included.
  std::uint64_t bytes_lost = 0;  ///< Of the torn tail that was cut off.
};

/// Makes `path`, readable by its owner alone, or goes on behind what it holds. Reads all of it, a second for a GiB.
/// Errors: `already_exists` (another agent records there), `invalid` (something else than a recording), `corrupt` and
/// `unsupported` (a recording that cannot be gone on with: the file is left as it is), others as code_of_errno.
Result<RecordingFile> open_recording_file(const std::filesystem::path& path, std::string_view version);

}  // namespace abacus
