// What an agent clears away, so that nothing it kept for somebody outlives the need.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "runtime/data/content_store.h"

namespace abacus {

/// At the start, before anything is under way: drops the pins of an earlier life that nobody will drop, i.e. all but
/// inputs of jobs and the outputs of `runs`, the attempts in the seller's journal. Blocks. Errors: those of the store.
Status drop_stale_pins(ContentStore& store, const std::set<AttemptId>& runs);

/// Drops the pins of inputs that no job needs any more. Not while a submission is under way: its inputs are pinned
/// before its job is known. Blocks, shortly. Errors: those of the store.
Status drop_unused_inputs(ContentStore& store, const std::set<Digest>& in_use);

/// The folders in `jobs_dir` (DATA_DIR/jobs) of jobs that are not `known` any more.
std::vector<std::filesystem::path> forgotten_jobs(const std::filesystem::path& jobs_dir,
                                                  const std::function<bool(const JobId&)>& known);

}  // namespace abacus
