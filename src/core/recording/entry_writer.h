// A recorder that turns what it hears into the frames of a recording.
#pragma once

#include <functional>
#include <string>

#include "core/driver/recorder.h"
#include "core/recording/effects_digest.h"

namespace abacus {

/// Gives bytes to a sink, whole frames at a time: a node that is made with all its records at once, then each event.
/// The file's header is the sink's affair.
class EntryWriter final : public Recorder {
 public:
  /// The view is valid during the call.
  using Sink = std::function<void(BytesView frames)>;

  /// `bytes_lost` is said of the first node: see NodeMade.
  EntryWriter(std::string version, std::uint64_t bytes_lost, Sink sink)
      : version_(std::move(version)), bytes_lost_(bytes_lost), sink_(std::move(sink)) {}

  void started(const NodeConfig& config, const std::vector<Record>& records, Now now, const Effects& effects) override;
  void handled(const Event& event, Now now, const Effects& effects) override;

 private:
  std::string version_;
  std::uint64_t bytes_lost_;
  Sink sink_;
  EffectsDigest digest_;
  Bytes content_, frame_;  ///< Kept between calls for their memory.
};

}  // namespace abacus
