// Looking up leases and attempts.
#include "runtime/exec/lease_table.h"

namespace abacus {

std::string attempt_folder(const AttemptId& attempt) {
  return fmt::format("{}.{}", attempt.task.to_string(), attempt.number);
}

LeaseEntry* LeaseTable::find(const LeaseId& lease) {
  auto entry = leases.find(lease);
  return entry == leases.end() ? nullptr : &entry->second;
}

AttemptEntry* LeaseTable::find(const AttemptId& attempt) {
  auto entry = attempts.find(attempt);
  return entry == attempts.end() ? nullptr : &entry->second;
}

void LeaseTable::erase(const LeaseId& lease) {
  std::erase_if(attempts, [&](const auto& entry) { return entry.second.lease == lease; });
  leases.erase(lease);
}

}  // namespace abacus
