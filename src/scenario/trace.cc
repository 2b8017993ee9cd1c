// Picks what explains a run, and leaves the rest out.
#include "scenario/trace.h"

#include <boost/json.hpp>

#include "protocol/json_form.h"
#include "sim/simulation.h"

namespace abacus {
namespace {

namespace json = boost::json;

json::object line(const sim::Simulation& simulation, sim::NodeIndex node, const char* what) {
  return {{"at_us", simulation.now().mono.ns / 1'000}, {"node", node}, {"what", what}};
}

json::object with_message(json::object entry, const char* side, std::optional<sim::NodeIndex> other,
                          const Message& message) {
  if (other) entry[side] = *other;
  entry["message"] = name_of(message);
  entry["fields"] = to_json(message);
  return entry;
}

json::object with_attempt(json::object entry, const LeaseId& lease, const AttemptId& attempt) {
  entry["lease"] = lease.to_string();
  entry["attempt"] = attempt.to_string();
  return entry;
}

}  // namespace

void TraceWriter::on_effect(const sim::Simulation& simulation, sim::NodeIndex node, const Effect& effect) {
  json::object entry;
  if (const auto* send = std::get_if<Send>(&effect)) {
    entry = with_message(line(simulation, node, "send"), "to", simulation.index_of(send->to.node), send->message);
  } else if (const auto* launch = std::get_if<Launch>(&effect)) {
    entry = with_attempt(line(simulation, node, "launch"), launch->lease, launch->attempt);
  } else if (const auto* stop = std::get_if<InterruptProcess>(&effect)) {
    entry = with_attempt(line(simulation, node, "interrupt"), stop->lease, stop->attempt);
  } else if (const auto* changed = std::get_if<TaskChanged>(&effect); changed && changed->ended) {
    entry = line(simulation, node, "task ended");
    entry["task"] = changed->task.to_string();
  } else if (const auto* log = std::get_if<Log>(&effect)) {
    entry = line(simulation, node, "log");
    entry["text"] = log->text;
  } else {
    return;
  }
  out_ << json::serialize(entry) << "\n";
}

void TraceWriter::on_event(const sim::Simulation& simulation, sim::NodeIndex node, const Event& event) {
  json::object entry;
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    entry = with_message(line(simulation, node, "receive"), "from", simulation.index_of(received->from.node),
                         received->message);
  } else if (const auto* ended = std::get_if<ProcessEnded>(&event)) {
    entry = with_attempt(line(simulation, node, "process ended"), ended->lease, ended->attempt);
    entry["end"] = to_json(ended->end);
  } else {
    return;
  }
  out_ << json::serialize(entry) << "\n";
}

void TraceWriter::on_crash(const sim::Simulation& simulation, sim::NodeIndex node, bool power_loss) {
  out_ << json::serialize(line(simulation, node, power_loss ? "power loss" : "crash")) << "\n";
}

void TraceWriter::on_rollback(const sim::Simulation& simulation, sim::NodeIndex node) {
  out_ << json::serialize(line(simulation, node, "commit failed")) << "\n";
}

}  // namespace abacus
