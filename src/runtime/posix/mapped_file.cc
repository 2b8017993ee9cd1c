// mmap(2), read-only and private.
#include "runtime/posix/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "runtime/posix/fd.h"

namespace abacus {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  TRY(Fd file, open_at(AT_FDCWD, path, O_RDONLY));
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return fail_errno(path.native());
  if (!S_ISREG(about.st_mode)) return fail(ErrorCode::invalid, "{} is no regular file", path.native());
  auto size = static_cast<std::size_t>(about.st_size);
  if (size == 0) return MappedFile(BytesView{});
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) return fail_errno(path.native());
  ::madvise(memory, size, MADV_SEQUENTIAL);
  return MappedFile(BytesView(static_cast<const std::uint8_t*>(memory), size));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace abacus
