// The folders tasks run in. Making and removing one costs more than any other step of a short task's launch, so an
// empty one that is no longer needed becomes the next task's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/exec/shim/janitor.h"

namespace abacus::shim {

class WorkFolders {
 public:
  /// Keeps at most `spares_max` empty folders. The janitor outlives this object.
  WorkFolders(std::size_t spares_max, Janitor& janitor) : spares_max_(spares_max), janitor_(janitor) {}

  /// Makes sure that the folder `name` exists; one that is there already stays as it is. Failures show at entering it.
  void provide(const std::string& name);

  /// Deletes the folder some time soon, or keeps it for the next provide if it is empty and as it was made.
  void remove(const std::string& name);

 private:
  std::size_t spares_max_;
  Janitor& janitor_;
  std::vector<std::string> spares_;
};

}  // namespace abacus::shim
