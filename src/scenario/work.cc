// Jobs by a rule (so many, from then on, so often) or from a table of arrivals.
#include <algorithm>

#include "api/job_document.h"
#include "protocol/codec.h"
#include "protocol/limits.h"
#include "scenario/fields.h"
#include "scenario/parts.h"
#include "sim/processes.h"

namespace abacus {
namespace {

namespace json = boost::json;

/// Deadlines count from the moment of handing in, which the simulator's clock gives; none is given here.
constexpr WallTime kNoNow{};

struct Rule {
  std::uint32_t count = 1;
  Duration at, every;
  Duration run = seconds(1), run_most;  ///< Drawn between the two, if the second is given.
  std::uint32_t exit_code = 0;
  bool knows_run = true;              ///< Users say how long a task takes.
  std::vector<sim::NodeIndex> nodes;  ///< Empty: all.
  std::optional<Duration> cancel_after;
  JobSpec spec;
};

Status read_spec(const json::value& value, const std::string& path, JobSpec& spec) {
  const json::object* given = value.if_object();
  if (given == nullptr) return fail(ErrorCode::invalid, "{}: want the fields of a job", path);
  json::object document = *given;
  document["command"] = json::array{"sim"};
  auto parsed = parse_job_document(document, kNoNow);
  if (!parsed) return fail(parsed.error().in(path));
  spec = std::move(parsed->spec);
  return {};
}

void read_where(Fields& fields, Draft& draft, std::vector<sim::NodeIndex>& nodes) {
  fields.with("nodes", [&](const json::value& value, const std::string& at) -> Status {
    auto read = read_node_set(value, draft);
    if (!read) return fail(read.error().in(at));
    nodes = std::move(*read);
    return nodes.empty() ? fail(ErrorCode::invalid, "{}: no node among them to hand work in at", at) : Status{};
  });
}

/// Takes room for so many jobs, each with a copy of what the rule says.
Status take_room(std::uint64_t count, const Rule& rule, Draft& draft) {
  TRY_STATUS(check_room("jobs", draft.plan.jobs.size(), count, draft.limits.jobs));
  const std::uint64_t bytes = count * (sizeof(sim::PlannedJob) + encode(rule.spec).size());
  TRY_STATUS(check_room("bytes of jobs", draft.job_bytes, bytes, draft.limits.job_bytes));
  draft.job_bytes += bytes;
  return {};
}

sim::PlannedJob hand_in(const Rule& rule, Duration at, Duration run, Draft& draft) {
  const std::uint64_t nodes = rule.nodes.empty() ? draft.plan.nodes.size() : rule.nodes.size();
  const std::uint64_t drawn = draft.prng.below(nodes);
  const auto node = rule.nodes.empty() ? static_cast<sim::NodeIndex>(drawn) : rule.nodes[drawn];
  sim::PlannedJob job{at, node, rule.spec, rule.cancel_after};
  job.spec.work.command = sim::sim_command(run, static_cast<int>(rule.exit_code));
  if (rule.knows_run) job.spec.expected_run = run;
  return job;
}

Status follow(const Rule& rule, Draft& draft) {
  TRY_STATUS(take_room(rule.count, rule, draft));
  if (rule.count > 0 && rule.every > sim::kTimeMax / rule.count) {
    return fail(ErrorCode::invalid, "{} jobs, one every {}, go on for longer than {}", rule.count,
                to_string(rule.every), to_string(sim::kTimeMax));
  }
  for (std::uint32_t i = 0; i < rule.count; ++i) {
    Duration run = rule.run;
    if (rule.run_most > rule.run) run = Duration{draft.prng.between(rule.run.ns, rule.run_most.ns)};
    draft.plan.jobs.push_back(hand_in(rule, rule.at + rule.every * i, run, draft));
  }
  return {};
}

/// Of a time in a table: traces count from 1970, some of them.
constexpr std::int64_t kTableSecondsMost = hours(24 * 365 * 100).s();

/// Which column says what; times in seconds.
struct Columns {
  std::string arrival_s = "arrival_s", run_s = "run_s", end_s, cpu_milli, memory_mib, gpus;
};

struct Table {
  std::string file;
  Columns columns;
  std::uint32_t rows = UINT32_MAX, skip = 0, speed = 1;
  Duration run_most = hours(24 * 365);
};

Status read_columns(const json::value& value, const std::string& path, Columns& columns) {
  Fields fields(value, path);
  fields.text("arrival_s", columns.arrival_s);
  fields.text("run_s", columns.run_s);
  fields.text("end_s", columns.end_s);
  fields.text("cpu_milli", columns.cpu_milli);
  fields.text("memory_mib", columns.memory_mib);
  fields.text("gpus", columns.gpus);
  return fields.finish();
}

/// A number of a row in thousandths, 0 where there is no such column.
Result<std::int64_t> milli(const Csv& csv, std::size_t row, const std::string& column, std::int64_t most) {
  if (column.empty()) return 0;
  TRY(std::size_t index, csv.column(column));
  return csv.milli(row, index, most);
}

Status size_bundle(const Csv& csv, std::size_t row, const Columns& columns, Bundle& bundle) {
  TRY(std::int64_t cpu, milli(csv, row, columns.cpu_milli, limits::kMaxCpuMilli));
  TRY(std::int64_t mib, milli(csv, row, columns.memory_mib, limits::kMaxBytesOfMemory >> 20));
  TRY(std::int64_t gpus, milli(csv, row, columns.gpus, limits::kSlots));
  if (cpu > 0) bundle.cpu_milli = static_cast<std::uint32_t>(cpu / 1'000);
  if (mib > 0) bundle.memory_bytes = static_cast<std::uint64_t>(mib / 1'000) << 20;
  if (gpus >= 1'000) bundle.devices = {{"gpu", "", static_cast<std::uint32_t>(gpus / 1'000)}};
  return {};
}

Status follow(const Rule& rule, const Table& table, Draft& draft) {
  TRY(Csv csv, read_table(table.file, draft));
  const std::size_t end = std::min<std::size_t>(csv.rows(), std::size_t{table.skip} + table.rows);
  const std::string& until = table.columns.end_s.empty() ? table.columns.run_s : table.columns.end_s;
  TRY_STATUS(take_room(end - std::min<std::size_t>(table.skip, end), rule, draft));
  std::optional<std::int64_t> first;
  for (std::size_t row = table.skip; row < end; ++row) {
    TRY(std::int64_t arrival_ms, milli(csv, row, table.columns.arrival_s, kTableSecondsMost));
    TRY(std::int64_t run_ms, milli(csv, row, until, kTableSecondsMost));
    if (!table.columns.end_s.empty()) run_ms -= arrival_ms;
    if (!first) first = arrival_ms;
    Rule one = rule;
    TRY_STATUS(size_bundle(csv, row, table.columns, one.spec.bundle));
    Duration run = std::clamp(milliseconds(run_ms) / table.speed, milliseconds(1), table.run_most);
    Duration at = rule.at + milliseconds(std::max<std::int64_t>(arrival_ms - *first, 0)) / table.speed;
    draft.plan.jobs.push_back(hand_in(one, at, run, draft));
  }
  return {};
}

void read_table_rule(Fields& fields, Table& table) {
  fields.text("csv", table.file);
  fields.with("columns", [&](const json::value& columns, const std::string& at) {
    return read_columns(columns, at, table.columns);
  });
  fields.number("rows", table.rows);
  fields.number("skip", table.skip);
  fields.number("speed", table.speed);
  fields.time("run_most", table.run_most);
  if (table.speed == 0) fields.wrong("speed", "want how many times as fast, at least 1");
}

}  // namespace

Status read_work(const json::value& value, const std::string& path, Draft& draft) {
  Fields fields(value, path);
  Rule rule;
  Table table;
  Duration cancel_after;
  fields.number("count", rule.count);
  fields.time("at", rule.at);
  fields.time("every", rule.every);
  fields.time("run", rule.run);
  fields.time("run_to", rule.run_most);
  fields.number("exit_code", rule.exit_code, 255);
  fields.flag("run_is_known", rule.knows_run);
  fields.time("cancel_after", cancel_after);
  if (cancel_after > Duration{}) rule.cancel_after = cancel_after;
  rule.spec.work.command = {"sim"};
  fields.with("job", [&](const json::value& job, const std::string& at) { return read_spec(job, at, rule.spec); });
  read_where(fields, draft, rule.nodes);
  read_table_rule(fields, table);
  TRY_STATUS(fields.finish());
  if (draft.plan.nodes.empty()) return fail(ErrorCode::invalid, "{}: there are no nodes to hand work in at", path);
  Status followed = table.file.empty() ? follow(rule, draft) : follow(rule, table, draft);
  return followed ? followed : fail(followed.error().in(table.file.empty() ? path : table.file));
}

}  // namespace abacus
