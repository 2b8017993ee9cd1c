// Numbers of an agent in the Prometheus text format.
#pragma once

#include <string>

#include "core/node.h"
#include "runtime/net/transport.h"

namespace abacus {

/// One scrape: counters of the node since its start, prices and use as gauges, the transport's traffic.
std::string metrics_text(const Node& node, const TransportStats& transport, Now now);

}  // namespace abacus
