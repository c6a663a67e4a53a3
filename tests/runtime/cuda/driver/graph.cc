#include "tests/runtime/cuda/driver/graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <utility>

namespace {

constexpr GraphEdge kFull = {};
constexpr GraphEdge kProgrammatic = {1, 0, 1, {}};

bool IsSame(const GraphEdge& a, const GraphEdge& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

}  // namespace

GraphNode* Graph::Add(std::function<void()> kernel, GraphNode* const* after, size_t count) {
  GraphNode node;
  node.kernel = std::move(kernel);
  for (size_t i = 0; i < count; ++i) {
    if (!Has(after[i]) || !node.after.insert(after[i]).second) return nullptr;
  }
  edges_ += static_cast<int>(count);
  nodes_.push_back(std::move(node));
  members_.insert(&nodes_.back());
  return &nodes_.back();
}

bool Graph::Connect(GraphNode* const* from, GraphNode* const* to, const GraphEdge* edges,
                    size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const bool is_early = IsSame(edges[i], kProgrammatic);
    if (!IsSame(edges[i], edges[0]) || (!is_early && !IsSame(edges[i], kFull))) return false;
    if (!Has(from[i]) || !Has(to[i]) || from[i] == to[i]) return false;
    if (is_early && (!from[i]->kernel || !to[i]->kernel)) return false;
    if (!to[i]->after.insert(from[i]).second) return false;
    ++edges_;
    early_edges_ += is_early ? 1 : 0;
  }
  return true;
}

GraphExec::GraphExec(const Graph& graph) : nodes_(graph.nodes().size()) {
  std::map<const GraphNode*, size_t> numbers;
  for (const GraphNode& node : graph.nodes()) numbers.emplace(&node, numbers.size());
  for (const GraphNode& node : graph.nodes()) {
    const size_t number = numbers.at(&node);
    nodes_[number].kernel = node.kernel;
    nodes_[number].waits_for = node.after.size();
    for (const GraphNode* const before : node.after) {
      nodes_[numbers.at(before)].next.push_back(number);
    }
  }
}

size_t GraphExec::Walk(uint64_t seed, const std::function<void(size_t)>& visit) const {
  std::mt19937_64 random(seed);
  std::vector<size_t> waits_for;
  for (const Node& node : nodes_) waits_for.push_back(node.waits_for);
  std::map<uint64_t, size_t> ready;  // by rank; the highest goes first
  const auto add = [&](size_t node) {
    // Low bits make ranks unique.
    const uint64_t rank = seed == 0 ? node : (random() << 24) + node;
    if (waits_for[node] == 0) ready.emplace(rank, node);
  };
  for (size_t node = 0; node < nodes_.size(); ++node) add(node);
  size_t visited = 0;
  for (; !ready.empty(); ++visited) {
    const auto highest = std::prev(ready.end());
    const size_t node = highest->second;
    ready.erase(highest);
    visit(node);
    for (const size_t next : nodes_[node].next) {
      --waits_for[next];
      add(next);
    }
  }
  return visited;
}

bool GraphExec::has_cycle() const {
  return Walk(0, [](size_t) {}) < nodes_.size();
}

void GraphExec::Run() {
  Walk(runs_++, [this](size_t node) {
    if (nodes_[node].kernel) nodes_[node].kernel();
  });
}
