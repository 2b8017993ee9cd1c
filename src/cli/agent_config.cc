// Texts to settings, with an error that names its source.
#include "cli/agent_config.h"

#include <boost/json.hpp>
#include <charconv>
#include <fstream>
#include <sstream>

#include "api/suggest.h"
#include "api/yaml.h"
#include "base/size.h"
#include "cli/job_flags.h"
#include "cli/places.h"
#include "protocol/contact_text.h"

namespace abacus {
namespace {

namespace json = boost::json;

constexpr const char* kDefaultListen = "127.0.0.1:7411";

/// The fields of the configuration file are the long names of the flags, with "_" for "-".
struct Field {
  const char* name;
  std::string AgentTexts::*text;
};
constexpr Field kFields[] = {{"data_dir", &AgentTexts::data_dir},
                             {"listen", &AgentTexts::listen},
                             {"advertise", &AgentTexts::advertise},
                             {"api_port", &AgentTexts::api_port},
                             {"region", &AgentTexts::region},
                             {"capacity", &AgentTexts::capacity},
                             {"energy_price", &AgentTexts::energy_price},
                             {"cpu_price", &AgentTexts::cpu_price},
                             {"memory_price", &AgentTexts::memory_price},
                             {"log_level", &AgentTexts::log_level},
                             {"limits", &AgentTexts::limits},
                             {"record", &AgentTexts::record},
                             {"record_max", &AgentTexts::record_max}};

Status put_field(AgentTexts& texts, const std::string& name, const json::value& value) {
  if (name == "contacts") {
    if (!value.is_array()) return fail(ErrorCode::invalid, "contacts: want a list of NODE@ADDRESS:PORT");
    for (const json::value& item : value.get_array()) {
      if (!item.is_string()) return fail(ErrorCode::invalid, "contacts: want a list of NODE@ADDRESS:PORT");
      texts.contacts.emplace_back(item.get_string());
    }
    return {};
  }
  std::vector<std::string> names{"contacts"};
  for (const Field& field : kFields) {
    names.emplace_back(field.name);
    if (name != field.name) continue;
    if (value.is_array() || value.is_object()) return fail(ErrorCode::invalid, "{}: want one value", name);
    texts.*field.text = value.is_string() ? std::string(value.get_string()) : json::serialize(value);
    return {};
  }
  return fail(ErrorCode::invalid, "unknown field '{}'{}", name, did_you_mean(name, names));
}

Result<AgentTexts> read_config(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return fail(ErrorCode::not_found, "the configuration {} cannot be read, or is empty", path);
  auto value = json_of_yaml(text.str());
  if (!value) return fail(value.error().in(path));
  if (!value->is_object()) return fail(ErrorCode::invalid, "{}: want fields such as 'region: north'", path);
  AgentTexts texts;
  for (const auto& member : value->get_object()) {
    if (Status put = put_field(texts, std::string(member.key()), member.value()); !put)
      return fail(put.error().in(path));
  }
  return texts;
}

void fill_in(AgentTexts& flags, const AgentTexts& file) {
  for (const Field& field : kFields) {
    if ((flags.*field.text).empty()) flags.*field.text = file.*field.text;
  }
  if (flags.contacts.empty()) flags.contacts = file.contacts;
}

/// Reads an optional text into an optional value.
template <class T, class Parse>
Status read_into(std::optional<T>& out, const char* name, const std::string& text, Parse parse) {
  if (text.empty()) return {};
  auto value = parse(text);
  if (!value) return fail(value.error().in(name));
  out = *value;
  return {};
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc{} && end == text.data() + text.size()) return port;
  return fail(ErrorCode::invalid, "'{}' is no port: want 0 to 65535", text);
}

}  // namespace

void add_agent_flags(CLI::App* command, AgentTexts& texts) {
  command->add_option("--config", texts.config, "YAML file; its fields are these flags' names (data_dir, listen, ...)");
  command->add_option("--data-dir", texts.data_dir,
                      "Identity, journal, content (default $ABACUS_HOME or ~/.local/share/abacus)");
  command->add_option("--listen", texts.listen,
                      "ADDRESS:PORT for peers (default 127.0.0.1:7411; for other machines 0.0.0.0:7411)");
  command->add_option("--advertise", texts.advertise, "ADDRESS:PORT at which peers reach it, if not where it listens");
  command->add_option("--api-port", texts.api_port, "Serve the API on 127.0.0.1 as well; token in DATA-DIR/api-token");
  command->add_option("--region", texts.region, "Overrides the certificate's region");
  command->add_option("--capacity", texts.capacity, "Sell less than is found: cpu=2,memory=4GiB,gpu=1:simulated-a100");
  command->add_option("--contact", texts.contacts, "NODE@ADDRESS:PORT to begin with; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_option("--energy-price", texts.energy_price, "Credits for a kWh; may be negative");
  command->add_option("--cpu-price", texts.cpu_price, "Credits for the wear of one CPU for an hour");
  command->add_option("--memory-price", texts.memory_price, "Credits for the wear of one GiB of memory for an hour");
  command->add_option("--log-level", texts.log_level, "debug, info, warn or error (default info)");
  command->add_option("--limits", texts.limits,
                      "true or false: fence tasks with cgroups where possible (default true)");
  command->add_option("--record", texts.record, "File to record to what `abacus replay` runs again; appends");
  command->add_option("--record-max", texts.record_max, "Size at which the recording stops (default 1GiB)");
}

Result<std::pair<std::string, std::uint16_t>> parse_host_port(const std::string& text) {
  std::size_t colon = text.rfind(':');
  auto port =
      colon == std::string::npos ? Result<std::uint16_t>(0) : parse_port(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!port || *port == 0 || host.empty())
    return fail(ErrorCode::invalid, "'{}': want HOST:PORT, such as 10.0.0.5:7411", text);
  return std::pair(host, *port);
}

Result<AgentSettings> agent_settings_of(AgentTexts texts) {
  if (!texts.config.empty()) {
    TRY(AgentTexts file, read_config(absolute_path(texts.config, current_folder())));
    fill_in(texts, file);
  }
  AgentSettings settings;
  settings.data_dir = texts.data_dir.empty() ? default_data_dir() : absolute_path(texts.data_dir, current_folder());
  auto listen = Endpoint::parse(texts.listen.empty() ? kDefaultListen : texts.listen);
  if (!listen) return fail(listen.error().in("listen"));
  settings.listen = *listen;
  settings.region = texts.region;
  settings.capacity = texts.capacity;
  if (!texts.log_level.empty()) settings.log_level = texts.log_level;
  TRY_STATUS(read_into(settings.advertise, "advertise", texts.advertise, Endpoint::parse));
  TRY_STATUS(read_into(settings.api_port, "api_port", texts.api_port, parse_port));
  TRY_STATUS(read_into(settings.energy_per_kwh, "energy_price", texts.energy_price, parse_money));
  TRY_STATUS(read_into(settings.cpu_per_hour, "cpu_price", texts.cpu_price, parse_money));
  TRY_STATUS(read_into(settings.memory_per_gib_hour, "memory_price", texts.memory_price, parse_money));
  for (const std::string& text : texts.contacts) {
    TRY(Contact contact, parse_contact(text));
    settings.contacts.push_back(contact);
  }
  const std::vector<std::string> levels = {"debug", "info", "warn", "error"};
  if (std::find(levels.begin(), levels.end(), settings.log_level) == levels.end()) {
    return fail(ErrorCode::invalid, "log_level: '{}' is not known: want debug, info, warn or error",
                settings.log_level);
  }
  if (!texts.limits.empty() && texts.limits != "true" && texts.limits != "false") {
    return fail(ErrorCode::invalid, "limits: '{}': want true or false", texts.limits);
  }
  settings.limits = texts.limits != "false";
  if (!texts.record.empty()) settings.record = absolute_path(texts.record, current_folder());
  if (!texts.record_max.empty()) {
    auto size = parse_size(texts.record_max);
    if (!size) return fail(size.error().in("record_max"));
    settings.record_max = *size;
  }
  return settings;
}

}  // namespace abacus
