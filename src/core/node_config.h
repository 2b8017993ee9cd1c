// Everything a node is given at its start.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>

#include "core/buying/buying_config.h"
#include "core/overlay/overlay_config.h"
#include "core/pricing/pricing_config.h"
#include "core/selling/selling_config.h"
#include "protocol/offer.h"
#include "protocol/resources.h"

namespace abacus {

struct NodeConfig {
  Contact self;
  OrgId organisation;
  std::string region;
  Capacity capacity;
  std::uint64_t seed = 0;  ///< Of all the node's random choices; the epoch is mixed in, so restarts differ.
  OverlayConfig overlay;
  PricingConfig pricing;
  SellingConfig selling;
  BuyingConfig buying;
};
BOOST_DESCRIBE_STRUCT(NodeConfig, (), (self, organisation, region, capacity, seed, overlay, pricing, selling, buying))

}  // namespace abacus
