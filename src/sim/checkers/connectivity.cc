// Walks the graph of neighbours from one node and counts whom it reaches.
#include "sim/checkers/connectivity.h"

#include <fmt/format.h>

#include <vector>

#include "sim/simulation.h"

namespace abacus::sim {
namespace {

/// A node that lost everybody speaks to its seeds within 30 s, and an island to a lost contact within a minute.
constexpr Duration kTimeToHeal = seconds(90);
constexpr std::int64_t kLookEvery_s = 5;

using Graph = std::vector<std::vector<NodeIndex>>;

/// Both ways: who has whom for a neighbour. Nodes that are down have no edges.
Graph neighbours(const Simulation& simulation) {
  Graph graph(simulation.size());
  for (NodeIndex i = 0; i < simulation.size(); ++i) {
    const Node* node = simulation.node(i);
    if (node == nullptr) continue;
    for (const Contact& contact : node->overlay().neighbours()) {
      std::optional<NodeIndex> other = simulation.index_of(contact.node);
      if (!other || simulation.node(*other) == nullptr) continue;
      graph[i].push_back(*other);
      graph[*other].push_back(i);
    }
  }
  return graph;
}

std::vector<bool> reached_from(const Graph& graph, NodeIndex start) {
  std::vector<bool> reached(graph.size());
  std::vector<NodeIndex> todo{start};
  reached[start] = true;
  while (!todo.empty()) {
    NodeIndex node = todo.back();
    todo.pop_back();
    for (NodeIndex other : graph[node]) {
      if (reached[other]) continue;
      reached[other] = true;
      todo.push_back(other);
    }
  }
  return reached;
}

}  // namespace

void ConnectivityChecker::on_second(const Simulation& simulation) {
  Duration quiet = simulation.now().mono - simulation.disturbed_at();
  if (simulation.faults_hold() == 0 && quiet >= kTimeToHeal && quiet.s() % kLookEvery_s == 0) check(simulation);
}

void ConnectivityChecker::check(const Simulation& simulation) {
  Graph graph = neighbours(simulation);
  std::optional<NodeIndex> first;
  std::size_t up = 0, joined = 0;
  for (NodeIndex i = 0; i < simulation.size(); ++i) {
    if (simulation.node(i) == nullptr) continue;
    if (!first) first = i;
    ++up;
  }
  if (!first) return;
  std::vector<bool> reached = reached_from(graph, *first);
  for (NodeIndex i = 0; i < simulation.size(); ++i) {
    if (simulation.node(i) != nullptr && reached[i]) ++joined;
  }
  if (joined == up) return;
  violated(simulation, fmt::format("neighbours lead from node {} to {} of {} nodes", *first, joined, up));
}

}  // namespace abacus::sim
