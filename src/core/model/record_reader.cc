// Decodes row by row; whether the records know each other is looked at when all are there.
#include "core/model/record_reader.h"

#include <algorithm>

namespace abacus {
namespace {

Bytes key_bytes(const Record& record) {
  return std::visit([](const auto& r) { return encode(key_of(r)); }, record);
}

std::string name_of_row(std::uint16_t kind, BytesView key) {
  return fmt::format("journal record {} {}", name_of_record(kind), to_hex(key));
}

bool has_index(const ArraySpec& array, std::uint32_t index) {
  return index >= array.first && index <= array.last && (index - array.first) % array.step == 0;
}

using Jobs = std::map<JobId, ArraySpec>;

Status check_owner(const Record& record, const Jobs& jobs) {
  const auto* task = std::get_if<TaskRecord>(&record);
  const auto* lease = std::get_if<BoughtLeaseRecord>(&record);
  if (task == nullptr && lease == nullptr) return {};
  const JobId& id = task != nullptr ? task->task.job : lease->job;
  auto job = jobs.find(id);
  const std::string name = name_of_row(static_cast<std::uint16_t>(record.index()), key_bytes(record));
  if (job == jobs.end()) return fail(ErrorCode::corrupt, "{} is of job {}, which is missing", name, id.to_string());
  if (task != nullptr && !has_index(job->second, task->task.index)) {
    return fail(ErrorCode::corrupt, "{} has index {}, which job {} does not have", name, task->task.index,
                id.to_string());
  }
  return {};
}

}  // namespace

Status RecordReader::add(std::uint16_t kind, BytesView key, BytesView value) {
  std::pair<std::uint16_t, Bytes> name{kind, Bytes(key.begin(), key.end())};
  if (latest_ && name <= *latest_) {
    return fail(ErrorCode::corrupt, "{} stands behind {}: it is there twice or out of order", name_of_row(kind, key),
                name_of_row(latest_->first, latest_->second));
  }
  auto record = decode_record(kind, value);
  if (!record) return fail(record.error().in(name_of_row(kind, key)));
  if (key_bytes(*record) != name.second) {
    return fail(ErrorCode::corrupt, "{} holds another record, with the key {}", name_of_row(kind, key),
                to_hex(key_bytes(*record)));
  }
  records_.push_back(std::move(*record));
  latest_ = std::move(name);
  return {};
}

Status check_whole(const std::vector<Record>& records) {
  if (!records.empty() && !std::holds_alternative<NodeRecord>(records.front())) {
    return fail(ErrorCode::corrupt, "the journal has {} records, but that of the node itself is missing",
                records.size());
  }
  Jobs jobs;
  for (const Record& record : records) {
    if (const auto* job = std::get_if<JobRecord>(&record)) jobs.emplace(job->job, job->spec.array);
  }
  for (const Record& record : records) TRY_STATUS(check_owner(record, jobs));
  return {};
}

}  // namespace abacus
