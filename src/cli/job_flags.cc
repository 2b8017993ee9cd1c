// Flags over file, paths made absolute.
#include "cli/job_flags.h"

#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "api/job_document.h"
#include "api/yaml.h"
#include "cli/places.h"
#include "protocol/output_dir.h"

namespace abacus {
namespace {

namespace json = boost::json;

Result<json::object> read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return fail(ErrorCode::not_found, "the job file {} cannot be read, or is empty", path);
  auto value = json_of_yaml(text.str());
  if (!value) return fail(value.error().in(path));
  if (!value->is_object()) return fail(ErrorCode::invalid, "{}: want fields such as 'command: [echo, hello]'", path);
  return std::move(value->get_object());
}

json::value input_of(const InputPath& input, const std::string& folder) {
  return json::object{{"source", absolute_path(input.source, folder)}, {"name", input.name}};
}

/// Inputs and the output folder of a file count from where the file lies.
Status make_absolute(json::object& document, const std::string& folder) {
  if (json::value* output_dir = document.if_contains("output_dir"); output_dir && output_dir->is_string()) {
    *output_dir = json::string(absolute_path(std::string(output_dir->get_string()), folder));
  }
  json::value* inputs = document.if_contains("inputs");
  if (!inputs || !inputs->is_array()) return {};
  for (json::value& item : inputs->get_array()) {
    if (item.is_string()) {
      TRY(InputPath input, parse_input(std::string_view(item.get_string())));
      item = input_of(input, folder);
    } else if (json::value* source = item.is_object() ? item.get_object().if_contains("source") : nullptr;
               source && source->is_string()) {
      *source = json::string(absolute_path(std::string(source->get_string()), folder));
    }
  }
  return {};
}

Status put_inputs(json::object& document, const std::vector<std::string>& texts, const std::string& folder) {
  if (texts.empty()) return {};
  json::array inputs;
  for (const std::string& text : texts) {
    TRY(InputPath input, parse_input(text));
    inputs.push_back(input_of(input, folder));
  }
  document["inputs"] = std::move(inputs);
  return {};
}

Status put_environment(json::object& document, const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  json::value& environment = document["environment"];
  if (!environment.is_object()) environment = json::object();
  for (const std::string& text : texts) {
    std::size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    const char* inherited = std::getenv(name.c_str());
    if (equals == std::string::npos && !inherited) {
      return fail(ErrorCode::invalid, "--env {}: want NAME=VALUE, or the name of a variable that is set here", text);
    }
    environment.get_object()[name] = json::string(equals == std::string::npos ? inherited : text.substr(equals + 1));
  }
  return {};
}

void put_list(json::object& document, const char* name, const std::vector<std::string>& texts) {
  if (!texts.empty()) document[name] = json::array(texts.begin(), texts.end());
}

void put_texts(json::object& document, const JobFlags& flags) {
  const std::pair<const char*, const std::string*> fields[] = {
      {"name", &flags.name},      {"array", &flags.array},       {"cpu", &flags.cpu},
      {"memory", &flags.memory},  {"disk", &flags.disk},         {"gpu", &flags.gpu},
      {"budget", &flags.budget},  {"deadline", &flags.deadline}, {"time_limit", &flags.time_limit},
      {"grace", &flags.grace},    {"urgency", &flags.urgency},   {"expected_run", &flags.expected_run},
      {"log_cap", &flags.log_cap}};
  for (const auto& [name, text] : fields) {
    if (!text->empty()) document[name] = json::string(*text);
  }
  if (flags.at_most_once) document["repeat"] = "at_most_once";
}

Status put_attempts(json::object& document, const std::string& text) {
  if (text.empty()) return {};
  char* end = nullptr;
  long number = std::strtol(text.c_str(), &end, 10);
  if (*end != '\0' || number < 1)
    return fail(ErrorCode::invalid, "--attempts {}: want a number of tries, at least 1", text);
  document["attempts_max"] = number;
  return {};
}

}  // namespace

void add_job_flags(CLI::App* command, JobFlags& flags) {
  command->add_option("command", flags.command, "The program and its arguments; after -- if any begins with a dash");
  command->add_option("-f,--file", flags.file, "Job as a YAML file; flags override its fields");
  command->add_option("--name", flags.name, "For people");
  command->add_option("--array", flags.array, "A task for each index: 0-99, 0-99:2 (step), 0-15%4 (four at once)");
  command->add_option("--cpu", flags.cpu, "CPUs of one task: 2, 0.5, 500m (default 1)");
  command->add_option("--memory", flags.memory, "Memory of one task, such as 4GiB");
  command->add_option("--disk", flags.disk, "Disk of one task, such as 10GiB");
  command->add_option("--gpu", flags.gpu, "GPUs of one task: COUNT, MODEL or MODEL:COUNT");
  command->add_option("--region", flags.regions, "Where it may run; may be repeated (default: anywhere)");
  command->add_option("--budget", flags.budget, "Credits that the whole job may cost, such as 2.50");
  command->add_option("--deadline", flags.deadline,
                      "Tasks not placed by then are given up: 2h, or 2026-12-01T18:30:00Z");
  command->add_option("--time-limit", flags.time_limit, "A task that runs longer is ended, such as 10m");
  command->add_option("--expected-run", flags.expected_run, "How long one task takes: better prices and places");
  command->add_option("--urgency", flags.urgency, "low, normal, high, or what an hour's delay is worth in credits");
  command->add_option("--grace", flags.grace, "Between SIGTERM and SIGKILL (default 30s)");
  command->add_option("--attempts", flags.attempts_max, "Tries for each task (default 10)");
  command->add_flag("--at-most-once", flags.at_most_once,
                    "Never start a task again that may still be running somewhere");
  command->add_option("--input", flags.inputs,
                      "PATH[:NAME]: file or folder that tasks find under NAME; may be repeated");
  command->add_option("--output", flags.outputs, "PATTERN: files to bring back, such as 'out/*.png'; may be repeated");
  command->add_option("--output-dir", flags.output_dir, "Where outputs go (default ./JOBID)");
  command->add_option("--env", flags.environment, "NAME=VALUE, or NAME to pass on the value here; may be repeated");
  command->add_option("--log-cap", flags.log_cap, "Kept of stdout and of stderr each (default 16MiB)");
  for (const char* name : {"--region", "--input", "--output", "--env"})
    command->get_option(name)->expected(1)->take_all();
}

Result<json::object> job_document_of(const JobFlags& flags, const std::vector<std::string>& after_dashes,
                                     const std::string& folder) {
  json::object document;
  if (!flags.file.empty()) {
    std::string path = absolute_path(flags.file, folder);
    TRY(document, read_file(path));
    if (Status done = make_absolute(document, absolute_path("..", path)); !done) return fail(done.error().in(path));
  }
  std::vector<std::string> command = flags.command;
  command.insert(command.end(), after_dashes.begin(), after_dashes.end());
  put_list(document, "command", command);
  put_texts(document, flags);
  put_list(document, "regions", flags.regions);
  put_list(document, "outputs", flags.outputs);
  TRY_STATUS(put_attempts(document, flags.attempts_max));
  TRY_STATUS(put_inputs(document, flags.inputs, folder));
  TRY_STATUS(put_environment(document, flags.environment));
  if (!flags.output_dir.empty()) document["output_dir"] = json::string(absolute_path(flags.output_dir, folder));
  const json::value* outputs = document.if_contains("outputs");
  bool wants_outputs = outputs && outputs->is_array() && !outputs->get_array().empty();
  if (wants_outputs && !document.contains("output_dir")) {
    document["output_dir"] = json::string(folder + "/" + kJobIdPlaceholder);
  }
  if (!document.contains("command")) {
    return fail(ErrorCode::invalid, "what should run? Give a command after --, such as: -- echo hello");
  }
  return document;
}

}  // namespace abacus
