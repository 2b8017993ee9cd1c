// Under which names an agent pins content in its store, and until when.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"

namespace abacus {

/// A submission while its inputs are packed. Gone when it is answered.
inline std::string submission_owner(std::uint64_t number) { return "submit-" + std::to_string(number); }

/// The inputs of jobs in custody, shared by all jobs with the same tree. Until no such job is left that has not ended.
inline constexpr char kInputOwnerPrefix[] = "input-";
inline std::string input_owner(const Digest& manifest) { return kInputOwnerPrefix + manifest.to_string(); }

/// Seller: inputs being brought in. Until they are in the working directory.
inline std::string staging_owner(const AttemptId& attempt) { return "in-" + attempt.to_string(); }

/// Seller: what an attempt left. Until its buyer has it.
inline std::string output_owner(const AttemptId& attempt) { return "out-" + attempt.to_string(); }

/// Buyer: outputs being fetched. Until they are in place.
inline std::string result_owner(const AttemptId& attempt) { return "result-" + attempt.to_string(); }

}  // namespace abacus
