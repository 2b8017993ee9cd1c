// Latencies between regions, by two numbers or by a table of round trips.
#include "scenario/fields.h"
#include "scenario/parts.h"

namespace abacus {
namespace {

/// A square table: the first column names the region that asks, the others the regions asked, in ms of a round trip.
/// A region without a column of its own is asked by nobody, so it is an error.
Status read_round_trips(const std::string& file, Draft& draft) {
  TRY(Csv csv, read_table(file, draft));
  TRY_STATUS(check_room("regions", 0, csv.rows(), sim::kRegionsMax));
  std::vector<std::size_t> columns;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    TRY(columns.emplace_back(), csv.column(csv.field(row, 0)));
  }
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    for (std::size_t other = 0; other < csv.rows(); ++other) {
      const std::string &from = csv.field(row, 0), &to = csv.field(other, 0);
      if (to == from) continue;
      TRY(std::int64_t round_trip_us, csv.milli(row, columns[other], sim::kLatencyMax.ms()));
      draft.plan.network.latencies.push_back({from, to, microseconds(round_trip_us / 2)});
    }
  }
  return {};
}

}  // namespace

Status read_network(const boost::json::value& value, const std::string& path, Draft& draft) {
  Fields fields(value, path);
  sim::NetworkConfig& network = draft.plan.network;
  std::string round_trips;
  fields.time("in_region", network.latency_in_region);
  fields.time("between_regions", network.latency_between_regions);
  fields.time("jitter", network.jitter);
  fields.number("loss_permille", network.loss_permille, 1'000);
  fields.number("duplicate_permille", network.duplicate_permille, 1'000);
  fields.number("tail_permille", network.tail_permille, 1'000);
  fields.number("tail_times", network.tail_times, 10'000);
  fields.text("round_trips_csv", round_trips);
  TRY_STATUS(fields.finish());
  if (round_trips.empty()) return {};
  if (Status read = read_round_trips(round_trips, draft); !read) return fail(read.error().in(round_trips));
  return {};
}

}  // namespace abacus
