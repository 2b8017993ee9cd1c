// From a journal row to its record: the kind picks the type.
#include "core/model/records.h"

namespace abacus {

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
