// A job from a YAML file and flags: both become the job document of the API (api/job_document.h).
#pragma once

#include <CLI/CLI.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace abacus {

struct JobFlags {
  std::string file, name, array, cpu, memory, disk, gpu, budget, deadline, time_limit, expected_run, urgency, grace;
  std::string output_dir, log_cap, attempts_max;
  std::vector<std::string> regions, inputs, outputs, environment, command;
  bool at_most_once = false;
};

/// Adds the flags that describe a job to a command.
void add_job_flags(CLI::App* command, JobFlags& flags);

/// The document: the file's fields, flags over them, relative paths made absolute (those of the file against its
/// folder, those of flags against `folder`). Outputs without a folder for them go to "./JOBID". Errors: `invalid`,
/// `not_found` (the file).
Result<boost::json::object> job_document_of(const JobFlags& flags, const std::vector<std::string>& after_dashes,
                                            const std::string& folder);

}  // namespace abacus
