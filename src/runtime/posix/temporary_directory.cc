// mkdtemp at the start, removal of everything at the end.
#include "runtime/posix/temporary_directory.h"

#include <cstdlib>
#include <string>

#include "base/check.h"

namespace abacus {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "abacus-XXXXXX").string();
  CHECK_MSG(::mkdtemp(pattern.data()) != nullptr, "cannot make a temporary directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace abacus
