// From a journal row to its record: the kind picks the type. Whatever passes may be handed to a node.
#include "core/model/records.h"

#include "protocol/limits.h"

namespace abacus {
namespace {

Status check_slots(std::uint32_t slots) {
  if (slots > 0 && slots <= limits::kSlots) return {};
  return fail(ErrorCode::invalid, "a lease of {} slots: want 1 to {}", slots, limits::kSlots);
}

Status check_devices(const std::vector<std::uint32_t>& devices) {
  for (std::uint32_t device : devices) {
    if (device < limits::kDeviceIndices) continue;
    return fail(ErrorCode::invalid, "device {}: they are numbered below {}", device, limits::kDeviceIndices);
  }
  return {};
}

}  // namespace

Status validate(const BoughtLeaseRecord& lease) { return check_slots(lease.slots); }

Status validate(const SoldLeaseRecord& lease) {
  if (lease.spans.empty()) return fail(ErrorCode::invalid, "a lease without a price");
  TRY_STATUS(check_slots(lease.slots));
  return check_devices(lease.devices);
}

Status validate(const RunRecord& run) { return check_devices(run.devices); }

Result<Record> decode_record(std::uint16_t kind, BytesView value) {
  constexpr std::size_t kKinds = std::variant_size_v<Record>;
  if (kind >= kKinds) {
    return fail(ErrorCode::unsupported, "journal record of kind {}: this version knows kinds below {}", kind, kKinds);
  }
  return boost::mp11::mp_with_index<kKinds>(kind, [&](auto index) -> Result<Record> {
    using R = std::variant_alternative_t<index.value, Record>;
    TRY(R record, decode<R>(value));
    return Record{std::move(record)};
  });
}

}  // namespace abacus
