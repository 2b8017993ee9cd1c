// A lock, a look at every frame, and a cut where the last writer was killed.
#include "runtime/recording/recording_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/recording/frame.h"
#include "runtime/posix/mapped_file.h"

namespace abacus {
namespace {

/// All that a writer got done that was killed while it made the file.
bool begins_a_header(BytesView bytes) {
  return bytes.size() < kRecordingHeaderBytes &&
         as_text(bytes).substr(0, kRecordingMagic.size()) ==
             kRecordingMagic.substr(0, std::min(bytes.size(), kRecordingMagic.size()));
}

/// Where the next entry goes, and how much behind it is torn.
Result<RecordingFile> examined(Fd fd, BytesView bytes) {
  if (begins_a_header(bytes)) return RecordingFile{std::move(fd), 0, bytes.size()};
  TRY(EntryFrameReader frames, EntryFrameReader::open(bytes));
  while (true) {
    TRY(std::optional<BytesView> content, frames.next());
    if (!content) break;
  }
  return RecordingFile{std::move(fd), frames.position(), frames.torn() ? frames.torn()->bytes : 0};
}

}  // namespace

Result<RecordingFile> open_recording_file(const std::filesystem::path& path, std::string_view version) {
  TRY(Fd fd, open_at(AT_FDCWD, path, O_RDWR | O_CREAT, 0600));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno(path.native());
    return fail(ErrorCode::already_exists, "another agent records to {}: give each its own file", path.native());
  }
  TRY(MappedFile mapped, MappedFile::open(path));
  auto file = examined(std::move(fd), mapped.bytes());
  if (!file) return fail(file.error().in(path.native()));
  if (file->bytes_lost > 0 && ::ftruncate(file->fd.get(), static_cast<off_t>(file->size)) != 0) {
    return fail_errno(path.native());
  }
  if (::lseek(file->fd.get(), 0, SEEK_END) < 0) return fail_errno(path.native());
  if (file->size == 0) {
    Bytes header = recording_header(version);
    TRY_STATUS(write_all(file->fd.get(), header, path.native()));
    file->size = header.size();
  }
  return file;
}

}  // namespace abacus
