// One event a paragraph: when, what, and what came of it.
#include "cli/render_replay.h"

#include "cli/brief_text.h"
#include "protocol/json_form.h"

namespace abacus {
namespace {

namespace json = boost::json;

constexpr std::size_t kLineWidth = 200;
constexpr std::int64_t kDayNs = 86'400'000'000'000;

std::string text_of(const Event& event) {
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    std::string fields = std::visit([](const auto& message) { return brief::fields_of(message); }, received->message);
    return fmt::format("{} from {} {}", name_of(received->message), node_text(received->from.node), fields);
  }
  return fmt::format("{} {}", name_of(event), std::visit([](const auto& e) { return brief::fields_of(e); }, event));
}

std::string text_of(const Effect& effect) {
  if (const auto* send = std::get_if<Send>(&effect)) {
    std::string fields = std::visit([](const auto& message) { return brief::fields_of(message); }, send->message);
    return fmt::format("{} to {} {}", name_of(send->message), node_text(send->to.node), fields);
  }
  return fmt::format("{} {}", name_of(effect), std::visit([](const auto& e) { return brief::fields_of(e); }, effect));
}

std::string text_of(const JournalChange& change) {
  const char* name = name_of_record(change.kind);
  if (!change.value) return fmt::format("erase {} {}", name, to_hex(change.key));
  auto record = decode_record(change.kind, *change.value);
  if (!record) return fmt::format("put {}: {}", name, record.error().message);
  return fmt::format("put {} {}", name, std::visit([](const auto& r) { return brief::fields_of(r); }, *record));
}

void add_line(std::string& text, std::string line) { text += brief::one_line(std::move(line), kLineWidth) + "\n"; }

json::object json_of(const Event& event) {
  json::object object{{"kind", name_of(event)}};
  if (const auto* received = std::get_if<MessageReceived>(&event)) object["message_kind"] = name_of(received->message);
  object["fields"] = to_json(event);
  return object;
}

json::object json_of(const Effect& effect) {
  json::object object{{"kind", name_of(effect)}};
  if (const auto* send = std::get_if<Send>(&effect)) object["message_kind"] = name_of(send->message);
  object["fields"] = to_json(effect);
  return object;
}

json::object json_of(const JournalChange& change) {
  json::object object{{"kind", name_of_record(change.kind)}, {"key", to_hex(change.key)}, {"record", nullptr}};
  if (!change.value) return object;
  if (auto record = decode_record(change.kind, *change.value)) object["record"] = to_json(*record);
  return object;
}

template <class T>
json::array json_of_all(const std::vector<T>& list) {
  json::array array;
  for (const T& item : list) array.push_back(json_of(item));
  return array;
}

}  // namespace

std::string brief::one_line(std::string text, std::size_t width) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (text.size() <= width) return text;
  std::size_t end = width - 3;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // not in the middle of a character
  return text.substr(0, end) + "...";
}

std::string brief::clock_text(WallTime time) {
  std::int64_t us = ((time.ns % kDayNs + kDayNs) % kDayNs) / 1'000;
  std::int64_t s = us / 1'000'000;
  return fmt::format("{:02}:{:02}:{:02}.{:06}", s / 3600, s / 60 % 60, s % 60, us % 1'000'000);
}

std::string render_step(const ReplayStep& step, const Replayer& replayer) {
  std::string text;
  const std::string head = fmt::format("#{} {} ", step.entry, brief::clock_text(step.now.wall));
  if (step.event) {
    add_line(text, head + text_of(*step.event));
  } else {
    add_line(text, head + fmt::format("node {} starts for the {}. time, on {}, by version {}",
                                      node_text(replayer.node()->config().self.node), replayer.node()->epoch(),
                                      utc_text(step.now.wall).substr(0, 10), replayer.version()));
  }
  for (const JournalChange& change : step.effects.changes) add_line(text, "    " + text_of(change));
  for (const Effect& effect : step.effects.now) add_line(text, "    -> " + text_of(effect));
  for (const Effect& effect : step.effects.held) add_line(text, "    => " + text_of(effect));
  return text;
}

json::object json_of_step(const ReplayStep& step, const Replayer& replayer) {
  json::object object{{"entry", step.entry}, {"mono_ns", step.now.mono.ns}, {"wall_ns", step.now.wall.ns}};
  if (step.event) {
    object["event"] = json_of(*step.event);
  } else {
    object["start"] = json::object{{"version", replayer.version()},
                                   {"epoch", replayer.node()->epoch()},
                                   {"config", to_json(replayer.node()->config())}};
  }
  object["changes"] = json_of_all(step.effects.changes);
  object["now"] = json_of_all(step.effects.now);
  object["held"] = json_of_all(step.effects.held);
  return object;
}

std::string render_outcome(const Replayer& replayer) {
  return fmt::format("{} event{} replayed in {} run{} of the node, up to {}; digest {:016x}{}\n", replayer.events(),
                     replayer.events() == 1 ? "" : "s", replayer.nodes(), replayer.nodes() == 1 ? "" : "s",
                     utc_text(replayer.now().wall), replayer.digest(),
                     replayer.difference() ? "" : ", equal to what was recorded");
}

std::string difference_text(const ReplayDifference& difference, const std::string& this_version) {
  return fmt::format(
      "the core that replays differs from the one that recorded: version {} against {}, first at entry {}, at {}",
      this_version, difference.version, difference.entry, brief::clock_text(difference.at));
}

}  // namespace abacus
