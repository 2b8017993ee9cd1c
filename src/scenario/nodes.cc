// Groups of nodes, written out or taken from an inventory.
#include <algorithm>

#include "base/size.h"
#include "protocol/limits.h"
#include "scenario/fields.h"
#include "scenario/parts.h"

namespace abacus {
namespace {

namespace json = boost::json;

struct Group {
  std::uint32_t count = 0;  ///< Of a table: 0 for as many as it has rows, more repeat it.
  std::string csv;
  std::vector<std::string> regions;
  sim::NodeSetup setup;
  Duration start_within = seconds(1);
};

Status read_size(Fields& fields, std::string_view name, std::uint64_t& out) {
  std::string text;
  fields.text(name, text);
  if (text.empty()) return {};
  auto size = parse_size(text);
  if (!size) return fail(size.error().in(fields.path_of(name)));
  out = *size;
  return {};
}

Status read_gpus(Fields& fields, Capacity& capacity) {
  DeviceStock stock{"gpu", "", 0, 0, true};
  fields.number("gpus", stock.count, 1'000);
  fields.text("gpu_model", stock.model);
  TRY_STATUS(read_size(fields, "gpu_memory", stock.memory_bytes));
  if (stock.count > 0) capacity.devices.push_back(stock);
  return {};
}

void read_regions(Fields& fields, Group& group) {
  std::string region;
  fields.text("region", region);
  if (!region.empty()) group.regions.push_back(region);
  fields.each("regions", [&](const json::value& value, const std::string& at) -> Status {
    if (!value.is_string()) return fail(ErrorCode::invalid, "{}: want the name of a region", at);
    group.regions.emplace_back(value.get_string());
    return {};
  });
  for (const std::string& name : group.regions) {
    if (name.size() > limits::kNameBytes) fields.wrong("region", "want a name of at most 64 characters");
  }
  if (group.regions.empty()) group.regions.emplace_back("here");
}

void read_prices(Fields& fields, PricingConfig& pricing) {
  std::uint64_t energy = static_cast<std::uint64_t>(pricing.tariff_micro_per_kwh);
  fields.number("energy_micro_per_kwh", energy, 1'000'000'000'000);
  pricing.tariff_micro_per_kwh = static_cast<std::int64_t>(energy);
}

Result<Group> read_group(const json::value& value, const std::string& path) {
  Fields fields(value, path);
  Group group;
  std::uint32_t cpus = 4;
  group.setup.capacity.memory_bytes = 16ull << 30;
  group.setup.capacity.disk_bytes = 100ull << 30;
  fields.number("count", group.count);
  fields.text("csv", group.csv);
  fields.number("cpus", cpus, 4'000);
  fields.time("start_within", group.start_within);
  read_regions(fields, group);
  read_prices(fields, group.setup.pricing);
  TRY_STATUS(read_size(fields, "memory", group.setup.capacity.memory_bytes));
  TRY_STATUS(read_size(fields, "disk", group.setup.capacity.disk_bytes));
  TRY_STATUS(read_gpus(fields, group.setup.capacity));
  TRY_STATUS(fields.finish());
  group.setup.capacity.cpu_milli = cpus * 1'000;
  if (group.count == 0 && group.csv.empty()) return fail(ErrorCode::invalid, "{}.count: want at least 1", path);
  return group;
}

/// The columns of the openb inventory: cpu_milli, memory_mib, gpu, model.
Result<std::vector<Capacity>> capacities_of(const Csv& csv, std::uint64_t disk_bytes) {
  TRY(std::size_t cpu, csv.column("cpu_milli"));
  TRY(std::size_t memory, csv.column("memory_mib"));
  TRY(std::size_t gpu, csv.column("gpu"));
  TRY(std::size_t model, csv.column("model"));
  std::vector<Capacity> capacities;
  if (csv.rows() == 0) return fail(ErrorCode::invalid, "it has a header only: want a row for each machine");
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    TRY(std::int64_t cpu_milli, csv.milli(row, cpu, limits::kMaxCpuMilli));
    TRY(std::int64_t mib, csv.milli(row, memory, limits::kMaxBytesOfMemory >> 20));
    TRY(std::int64_t gpus, csv.milli(row, gpu, limits::kSlots));
    Capacity& capacity = capacities.emplace_back();
    capacity.cpu_milli = static_cast<std::uint32_t>(cpu_milli / 1'000);
    capacity.memory_bytes = static_cast<std::uint64_t>(mib / 1'000) << 20;
    capacity.disk_bytes = disk_bytes;
    if (gpus < 1'000) continue;
    capacity.devices.push_back({"gpu", csv.field(row, model), static_cast<std::uint32_t>(gpus / 1'000), 0, true});
  }
  return capacities;
}

Status add_nodes(Draft& draft, const Group& group, std::size_t count, const std::vector<Capacity>& capacities) {
  TRY_STATUS(check_room("nodes", draft.plan.nodes.size(), count, draft.limits.nodes));
  for (std::size_t i = 0; i < count; ++i) {
    sim::NodeSetup setup = group.setup;
    setup.region = group.regions[i % group.regions.size()];
    if (!capacities.empty()) setup.capacity = capacities[i % capacities.size()];
    setup.starts_at = Duration{draft.prng.between(0, std::max<std::int64_t>(group.start_within.ns, 0))};
    draft.plan.nodes.push_back(std::move(setup));
  }
  return {};
}

}  // namespace

Result<Csv> read_table(const std::string& file, Draft& draft) {
  TRY(std::string text, draft.read_file(file));
  auto csv = Csv::parse(text);
  if (!csv) return fail(csv.error().in(file));
  return csv;
}

Status read_nodes(const json::value& value, const std::string& path, Draft& draft) {
  TRY(Group group, read_group(value, path));
  std::vector<Capacity> capacities;
  if (!group.csv.empty()) {
    TRY(Csv csv, read_table(group.csv, draft));
    auto read = capacities_of(csv, group.setup.capacity.disk_bytes);
    if (!read) return fail(read.error().in(group.csv));
    capacities = std::move(*read);
  }
  Status added = add_nodes(draft, group, group.count == 0 ? capacities.size() : group.count, capacities);
  return added ? added : fail(added.error().in(path + ".count"));
}

}  // namespace abacus
