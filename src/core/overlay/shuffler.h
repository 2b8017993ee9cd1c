// The exchange of offers: when, how many, and to newcomers all at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/prng.h"
#include "core/model/effects.h"
#include "core/overlay/offer_cache.h"
#include "core/overlay/overlay_config.h"
#include "protocol/overlay_messages.h"

namespace abacus {

/// Sends samples of a cache. Whom to speak to is decided by the owner.
class Shuffler {
 public:
  /// `cache` outlives the shuffler.
  Shuffler(const ShuffleConfig& config, OfferCache& cache, Prng prng);

  /// The own offer and a sample to `to`, which is to answer in kind.
  void begin(const Contact& to, const OfferRef& own, Now now, Effects& effects);

  /// As many offers as came.
  void answer(const Contact& to, const Shuffle& shuffle, const OfferRef& own, Effects& effects);

  /// The round trip of an exchange that `from` just answered; none for an answer to nothing.
  std::optional<Duration> answered(const NodeId& from, std::uint32_t exchange, MonoTime now);

  /// Everything known, in several messages. Past a rate of whole caches a newcomer gets one sample.
  void welcome(const Contact& newcomer, const OfferRef& own, MonoTime now, Effects& effects);

  /// The next moment for a shuffle: the period, give or take a quarter.
  MonoTime next_after(MonoTime now);

  /// True at most once per `search_gap`.
  bool may_search(MonoTime now);

 private:
  struct Exchange {
    NodeId partner;
    MonoTime since;
  };
  std::vector<OfferRef> offers_for(const NodeId& partner, const OfferRef& own, std::size_t count);
  bool may_welcome(MonoTime now);
  void forget_old(MonoTime now);

  ShuffleConfig config_;
  OfferCache& cache_;
  Prng prng_;
  std::map<std::uint32_t, Exchange> exchanges_;
  std::uint32_t last_exchange_ = 0;
  std::uint32_t welcomes_left_;
  MonoTime welcomes_counted_;
  std::optional<MonoTime> searched_at_;
};

}  // namespace abacus
