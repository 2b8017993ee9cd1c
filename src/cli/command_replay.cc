// replay: a recording taken through this program's core, told event by event.
#include <boost/json.hpp>
#include <charconv>

#include "base/time_text.h"
#include "cli/brief_text.h"
#include "cli/command_set.h"
#include "cli/exit_codes.h"
#include "cli/places.h"
#include "cli/render_replay.h"
#include "cli/replay_filter.h"
#include "protocol/json_form.h"
#include "runtime/posix/mapped_file.h"

namespace abacus {
namespace {

namespace json = boost::json;

struct ReplayFlags {
  std::string file, until, task, job;
  bool why = false, json = false, quiet = false;
};

/// Where a replay stops: behind that entry, or before the first one later than that. Neither: at the end.
struct StopAt {
  std::optional<std::uint64_t> entry;
  std::optional<WallTime> time;

  bool reached(const PlacedEntry& placed) const {
    if (entry) return placed.number > *entry;
    const auto* handled = std::get_if<EventHandled>(&placed.entry);
    const auto* made = std::get_if<NodeMade>(&placed.entry);
    return time && ((handled != nullptr && handled->wall > *time) || (made != nullptr && made->wall > *time));
  }
};

/// "18:30:05" or "18:30:05.25": the time since midnight.
std::optional<Duration> parse_clock(std::string_view text) {
  if (text.size() < 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  auto date = parse_wall_time("1970-01-01T" + std::string(text.substr(0, 8)) + "Z");
  if (!date) return std::nullopt;
  if (text.size() == 8) return Duration{date->ns};
  auto fraction = parse_duration("0" + std::string(text.substr(8)) + "s");
  if (text[8] != '.' || !fraction) return std::nullopt;
  return Duration{date->ns} + *fraction;
}

/// The first time after `begin` at which clocks show that.
WallTime next_at_clock(WallTime begin, Duration since_midnight) {
  constexpr std::int64_t kDayNs = hours(24).ns;
  WallTime time{begin.ns / kDayNs * kDayNs + since_midnight.ns};
  return time < begin ? time + hours(24) : time;
}

Result<StopAt> parse_until(const std::string& text, WallTime begin) {
  StopAt stop;
  if (text.empty()) return stop;
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) {
    stop.entry = number;
    return stop;
  }
  if (auto clock = parse_clock(text)) {
    stop.time = next_at_clock(begin, *clock);
    return stop;
  }
  auto time = parse_wall_time(text);
  if (time) {
    stop.time = *time;
    return stop;
  }
  return fail(ErrorCode::invalid,
              "--until '{}': want an entry's number as the replay shows it, 18:30:05.25 or 2026-12-01T18:30:05Z (UTC)",
              text);
}

/// When the recording begins; the time does not matter where nothing is in it.
Result<WallTime> begin_of(BytesView file) {
  TRY(RecordingReader reader, RecordingReader::open(file));
  TRY(std::optional<PlacedEntry> first, reader.next());
  const auto* made = first ? std::get_if<NodeMade>(&first->entry) : nullptr;
  return made == nullptr ? WallTime{} : made->wall;
}

struct Played {
  Replayer replayer;
  std::optional<TornTail> torn;
  Status status;  ///< What kept it from going on.
};

/// From the beginning to `stop`, or as far as it goes. `on_step` may change the step.
Result<Played> play(BytesView file, const StopAt& stop,
                    const std::function<void(ReplayStep&, const Replayer&)>& on_step) {
  TRY(RecordingReader reader, RecordingReader::open(file));
  Played played;
  while (true) {
    auto entry = reader.next();
    if (!entry) played.status = fail(entry.error());
    if (!entry || !*entry || stop.reached(**entry)) break;
    auto step = played.replayer.apply(std::move(**entry));
    if (!step) {
      played.status = fail(step.error());
      break;
    }
    if (*step) on_step(**step, played.replayer);
  }
  played.torn = reader.torn();
  return played;
}

Result<std::optional<ReplayFilter>> filter_of(const ReplayFlags& flags) {
  if (!flags.task.empty()) {
    auto task = TaskId::parse(flags.task);
    if (!task) return fail(ErrorCode::invalid, "--task '{}': want JOB or JOB.INDEX", flags.task);
    return ReplayFilter(*task);
  }
  if (flags.job.empty()) return std::nullopt;
  auto job = JobId::parse(flags.job);
  if (!job) return fail(ErrorCode::invalid, "--job '{}': want the 12 digits of a job", flags.job);
  return ReplayFilter(*job);
}

/// What `explain` said of the task where the replay stopped.
Result<ExplainView> why(const ReplayFlags& flags, const Replayer& replayer) {
  TRY(TaskId task, TaskId::parse(flags.task.empty() ? flags.job : flags.task));
  if (replayer.node() == nullptr) return fail(ErrorCode::not_found, "no node had been made by then");
  return replayer.node()->buying().explain(task, replayer.now());
}

std::string torn_text(const TornTail& torn, const Replayer& replayer) {
  return fmt::format("the recording ends in the middle of entry {}, after {}; {} bytes left out\n", torn.entry,
                     brief::clock_text(replayer.now().wall), torn.bytes);
}

json::object json_of_outcome(const Played& played, const Result<ExplainView>* explained) {
  const Replayer& replayer = played.replayer;
  json::object object{{"events", replayer.events()},
                      {"runs", replayer.nodes()},
                      {"digest", fmt::format("{:016x}", replayer.digest())},
                      {"equal", !replayer.difference()}};
  if (replayer.difference()) object["first_difference"] = replayer.difference()->entry;
  if (played.torn) {
    object["torn"] = json::object{{"entry", played.torn->entry}, {"bytes_left_out", played.torn->bytes}};
  }
  if (explained != nullptr && *explained) object["explain"] = to_json(**explained);
  return object;
}

/// Says how it ended; the exit code.
int conclude(Context& context, const ReplayFlags& flags, const Played& played) {
  std::optional<Result<ExplainView>> explained;
  if (flags.why) explained = why(flags, played.replayer);
  if (flags.json) {
    context.out << json::serialize(json_of_outcome(played, explained ? &*explained : nullptr)) << "\n";
  } else {
    if (explained && *explained) context.out << "\n" << render_explain(**explained) << "\n";
    context.out << render_outcome(played.replayer);
    if (played.torn) context.out << torn_text(*played.torn, played.replayer);
  }
  if (!played.status) return context.report(played.status.error());
  if (played.replayer.difference()) {
    return context.report(ErrorCode::unsupported,
                          difference_text(*played.replayer.difference(), context.actions.version));
  }
  return explained && !*explained ? context.report(explained->error()) : 0;
}

int replay(Context& context, const ReplayFlags& flags) {
  if (flags.why && flags.task.empty() && flags.job.empty()) {
    return context.report(ErrorCode::invalid, "--why needs --task or --job: say of what");
  }
  auto filter = filter_of(flags);
  if (!filter) return context.report(filter.error());
  auto file = MappedFile::open(absolute_path(flags.file, current_folder()));
  if (!file) return context.report(file.error());
  auto begin = begin_of(file->bytes());
  if (!begin) return context.report(begin.error().in(flags.file));
  auto stop = parse_until(flags.until, *begin);
  if (!stop) return context.report(stop.error());
  if (*filter) {
    auto learnt = play(file->bytes(), *stop, [&](ReplayStep& step, const Replayer&) { (*filter)->learn(step); });
    if (!learnt) return context.report(learnt.error().in(flags.file));
  }
  auto played = play(file->bytes(), *stop, [&](ReplayStep& step, const Replayer& replayer) {
    if (flags.quiet || (*filter && !(*filter)->narrow(step))) return;
    if (flags.json) {
      context.out << json::serialize(json_of_step(step, replayer)) << "\n";
    } else {
      context.out << render_step(step, replayer);
    }
  });
  return played ? conclude(context, flags, *played) : context.report(played.error().in(flags.file));
}

}  // namespace

void add_replay_command(CommandSet& commands) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command =
      commands.add("replay", "Run what `agent --record` wrote through this program's core again",
                   CommandSet::Talks::to_nobody, [flags](Context& context) { return replay(context, *flags); });
  command->add_option("file", flags->file, "The recording")->required();
  command->add_option("--until", flags->until, "Stop behind an entry's number, or at a time: 18:30:05.25, or a date");
  CLI::Option* task = command->add_option("--task", flags->task, "Show what concerns this task: JOB or JOB.INDEX");
  command->add_option("--job", flags->job, "Show what concerns this job")->excludes(task);
  command->add_flag("--why", flags->why, "At the end, explain where the task is, as `abacus explain` did then");
  command->add_flag("--json", flags->json, "One JSON object a line with every field, the outcome last");
  command->add_flag("-q,--quiet", flags->quiet, "Only the outcome");
}

}  // namespace abacus
