// Journal rows: the first byte chooses the kind of record.
#include <cstdlib>

#include "core/model/records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto record = abacus::decode_record(data[0], {data + 1, size - 1});
  if (!record) return 0;
  auto change = std::visit([](const auto& r) { return abacus::put_change(r); }, *record);
  if (!abacus::decode_record(change.kind, *change.value)) std::abort();
  return 0;
}
