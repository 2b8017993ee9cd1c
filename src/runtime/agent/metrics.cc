// From the node's counters and the transport's statistics to Prometheus families.
#include "runtime/agent/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <vector>

namespace abacus {
namespace {

prometheus::MetricFamily family(const std::string& name, const std::string& help, prometheus::MetricType type,
                                double value) {
  prometheus::MetricFamily result;
  result.name = "abacus_" + name;
  result.help = help;
  result.type = type;
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  result.metric.push_back(metric);
  return result;
}

template <class Number>
prometheus::MetricFamily counter(const std::string& name, const std::string& help, Number value) {
  return family(name, help, prometheus::MetricType::Counter, static_cast<double>(value));
}

template <class Number>
prometheus::MetricFamily gauge(const std::string& name, const std::string& help, Number value) {
  return family(name, help, prometheus::MetricType::Gauge, static_cast<double>(value));
}

}  // namespace

std::string metrics_text(const Node& node, const TransportStats& transport, Now now) {
  std::vector<prometheus::MetricFamily> families;
  Counters counters = node.counters();
  boost::mp11::mp_for_each<boost::describe::describe_members<Counters, boost::describe::mod_any_access>>(
      [&](auto member) {
        families.push_back(
            counter(std::string(member.name) + "_total", "Since the agent's start.", counters.*member.pointer));
      });
  SellingView selling = node.selling().view(now);
  families.push_back(gauge("utilisation_ratio", "Of what this node sells.", selling.utilisation_permille / 1000.0));
  families.push_back(gauge("price_multiplier", "Slow scarcity multiplier.", selling.multiplier_permille / 1000.0));
  families.push_back(gauge("cpu_price_micro_per_s", "Micro-credits for one more CPU.", selling.cpu_price.micro_per_s));
  families.push_back(gauge("leases_sold", "Leases not yet settled.", selling.leases.size()));
  families.push_back(gauge("leases_bought", "Leases not yet settled.", node.buying().leases().size()));
  families.push_back(gauge("nodes_known", "Unexpired offers.", node.overlay().offers(now.wall).size()));
  families.push_back(gauge("connections", "Open control connections.", transport.connections));
  families.push_back(counter("frames_in_total", "Messages received.", transport.frames_in));
  families.push_back(counter("frames_out_total", "Messages sent.", transport.frames_out));
  families.push_back(counter("bytes_in_total", "Before encryption.", transport.bytes_in));
  families.push_back(counter("bytes_out_total", "Before encryption.", transport.bytes_out));
  families.push_back(counter("frames_dropped_total", "Never written.", transport.dropped_frames));
  families.push_back(counter("strangers_rejected_total", "Refused before any protocol byte.", transport.rejected));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace abacus
