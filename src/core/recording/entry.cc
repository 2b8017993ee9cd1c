// The codec of entries, compiled once.
#include "core/recording/entry.h"

#include "core/pricing/pricing_config.h"
#include "protocol/codec.h"

namespace abacus {
namespace {

/// What went into a node is no peer's to bound; these only keep a damaged count from taking all memory.
constexpr CborLimits kEntryLimits{64 << 20, 16 << 20};

template <class E>
CborWriter begin_entry(Bytes& out) {
  CborWriter writer(out);
  writer.array(2);
  writer.unsigned_integer(boost::mp11::mp_find<Entry, E>::value);
  writer.array(boost::mp11::mp_size<codec::MembersOf<E>>::value);
  return writer;
}

}  // namespace

Bytes encode_entry(const Entry& entry) { return encode(entry); }

void encode_record_entry(Bytes& out, const Record& record) {
  CborWriter writer = begin_entry<RecordRestored>(out);
  codec::write(writer, record);
}

void encode_event_entry(Bytes& out, const Event& event, Now now, std::uint64_t digest) {
  CborWriter writer = begin_entry<EventHandled>(out);
  codec::write(writer, now.mono);
  codec::write(writer, now.wall);
  codec::write(writer, digest);
  codec::write(writer, event);
}

Result<Entry> decode_entry(BytesView content) { return decode<Entry>(content, kEntryLimits); }

}  // namespace abacus
