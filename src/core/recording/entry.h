// What a recording consists of: nodes that were made, the records they were made from, the events they handled.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <variant>

#include "base/bytes.h"
#include "base/time.h"
#include "core/model/event.h"
#include "core/model/records.h"
#include "core/node_config.h"

namespace abacus {

/// A node was made of `config` and the `records` that follow, and started.
struct NodeMade {
  std::string version;           ///< Of the program.
  std::uint64_t bytes_lost = 0;  ///< Cut off the file before this entry: the torn tail of a writer that was killed.
  MonoTime mono;
  WallTime wall;
  std::uint64_t records = 0;
  std::uint64_t digest = 0;  ///< Of the effects of its start: see effects_digest.h.
  NodeConfig config;
};
BOOST_DESCRIBE_STRUCT(NodeMade, (), (version, bytes_lost, mono, wall, records, digest, config))

/// One of the records of the node that is being made.
struct RecordRestored {
  Record record;
};
BOOST_DESCRIBE_STRUCT(RecordRestored, (), (record))

/// The node handled an event.
struct EventHandled {
  MonoTime mono;
  WallTime wall;
  std::uint64_t digest = 0;  ///< Of all effects since the node was made, those of this event included.
  Event event;
};
BOOST_DESCRIBE_STRUCT(EventHandled, (), (mono, wall, digest, event))

/// The order is the format of recordings: append only.
using Entry = std::variant<NodeMade, RecordRestored, EventHandled>;

/// An entry as [position, fields], deterministic CBOR. The last two save copies of what is only looked at.
Bytes encode_entry(const Entry& entry);
void encode_record_entry(Bytes& out, const Record& record);
void encode_event_entry(Bytes& out, const Event& event, Now now, std::uint64_t digest);

/// Errors: as decode in protocol/codec.h.
Result<Entry> decode_entry(BytesView content);

}  // namespace abacus
