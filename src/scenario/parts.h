// The parts of a scenario, each read by its own file into the plan.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/prng.h"
#include "scenario/csv.h"
#include "scenario/limits.h"
#include "scenario/scenario.h"

namespace abacus {

/// What reading a part needs beside its JSON.
struct Draft {
  sim::Plan plan;
  Prng prng;  ///< Of everything that is drawn while reading.
  const ReadFile& read_file;
  const ScenarioLimits& limits;
  std::uint64_t struck = 0;     ///< Nodes named by faults so far.
  std::uint64_t job_bytes = 0;  ///< Of the jobs so far.
};

/// Errors: `invalid` if `more` of `what` are too many beside the `there` that there are.
Status check_room(const char* what, std::uint64_t there, std::uint64_t more, std::uint64_t most);

/// A group of nodes alike, or of nodes from a table.
Status read_nodes(const boost::json::value& group, const std::string& path, Draft& draft);

/// Latencies, losses, a table of round trips.
Status read_network(const boost::json::value& network, const std::string& path, Draft& draft);

/// Jobs handed in by a rule, or from a table. After the nodes.
Status read_work(const boost::json::value& work, const std::string& path, Draft& draft);

/// One fault. After the nodes.
Status read_fault(const boost::json::value& fault, const std::string& path, Draft& draft);

/// Names of rare paths with their permille.
Status read_chances(const boost::json::value& chances, const std::string& path, Draft& draft);

/// Nodes by number (3), list ([1, 2]), share ("30%", drawn), or region ("north").
Result<std::vector<sim::NodeIndex>> read_node_set(const boost::json::value& value, Draft& draft);

/// The table in a file. Errors: those of the reader and of Csv::parse, with the file's name.
Result<Csv> read_table(const std::string& file, Draft& draft);

}  // namespace abacus
