// One digest a node: it begins anew with each.
#include "core/recording/entry_writer.h"

#include <utility>

#include "core/recording/entry.h"
#include "core/recording/frame.h"

namespace abacus {

void EntryWriter::started(const NodeConfig& config, const std::vector<Record>& records, Now now,
                          const Effects& effects) {
  digest_ = {};
  digest_.add(effects);
  Bytes frames;
  append_entry_frame(frames, encode_entry(NodeMade{version_, std::exchange(bytes_lost_, 0), now.mono, now.wall,
                                                   records.size(), digest_.value(), config}));
  for (const Record& record : records) {
    content_.clear();
    encode_record_entry(content_, record);
    append_entry_frame(frames, content_);
  }
  sink_(frames);
}

void EntryWriter::handled(const Event& event, Now now, const Effects& effects) {
  digest_.add(effects);
  content_.clear();
  encode_event_entry(content_, event, now, digest_.value());
  frame_.clear();
  append_entry_frame(frame_, content_);
  sink_(frame_);
}

}  // namespace abacus
