// Pins by their owners' names, job folders by theirs.
#include "runtime/agent/housekeeping.h"

#include <string>

#include "runtime/agent/pin_owners.h"

namespace abacus {
namespace {

bool is_input(const std::string& owner) { return owner.starts_with(kInputOwnerPrefix); }

}  // namespace

Status drop_stale_pins(ContentStore& store, const std::set<AttemptId>& runs) {
  std::set<std::string> kept;
  for (const AttemptId& run : runs) kept.insert(output_owner(run));
  for (const std::string& owner : store.owners()) {
    if (!is_input(owner) && !kept.contains(owner)) TRY_STATUS(store.unpin(owner));
  }
  return {};
}

Status drop_unused_inputs(ContentStore& store, const std::set<Digest>& in_use) {
  std::set<std::string> kept;
  for (const Digest& input : in_use) kept.insert(input_owner(input));
  for (const std::string& owner : store.owners()) {
    if (is_input(owner) && !kept.contains(owner)) TRY_STATUS(store.unpin(owner));
  }
  return {};
}

std::vector<std::filesystem::path> forgotten_jobs(const std::filesystem::path& jobs_dir,
                                                  const std::function<bool(const JobId&)>& known) {
  std::error_code error;
  std::vector<std::filesystem::path> forgotten;
  for (const auto& entry : std::filesystem::directory_iterator(jobs_dir, error)) {
    auto job = JobId::parse(entry.path().filename().string());
    if (job && !known(*job)) forgotten.push_back(entry.path());
  }
  return forgotten;
}

}  // namespace abacus
