// The algorithm is TVM's (Chen et al., OSDI 2018; its FuseOps): a node may join its post-dominator
// when every node on the ways between can stand in one kernel with both.
#include "compiler/passes/fusion_groups.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace hone::passes {
namespace {

using ops::FuseKind;

class Grouping {
 public:
  Grouping(const std::vector<FlowNode>& graph, const std::vector<FuseKind>& kinds,
           const GroupLimits& limits, std::vector<Prologue> prologues, std::vector<bool> moves)
      : graph_(graph),
        dominators_(PostDominators(graph)),
        kinds_(kinds),
        limits_(limits),
        leader_(graph.size()),
        group_kind_(kinds),
        size_(graph.size(), 1),
        inputs_(graph.size(), 0),
        prologues_(std::move(prologues)),
        moves_(std::move(moves)) {
    prologues_.resize(graph.size(), Prologue::kNone);
    moves_.resize(graph.size(), false);
    std::iota(leader_.begin(), leader_.end(), 0);
    for (const FlowNode& node : graph) {
      for (const FlowNode::Edge& edge : node.edges) ++inputs_[edge.user];
    }
  }

  // First what ends at complex operators and reductions, then what merely moves elements, so that
  // epilogues get the elementwise operators before data movement does; last what is left before
  // kernels that take it.
  std::vector<int> Run() {
    for (int phase = 0; phase < 3; ++phase) {
      for (size_t i = 0; i < graph_.size(); ++i) Visit(static_cast<int>(i), phase);
    }
    std::vector<int> groups;
    for (size_t i = 0; i < graph_.size(); ++i) groups.push_back(Leader(static_cast<int>(i)));
    return groups;
  }

 private:
  int Leader(int node) const {
    while (leader_[node] != node) node = leader_[node];
    return node;
  }

  void Visit(int node, int phase) {
    const PostDominator& to = dominators_[node];
    const FuseKind kind = group_kind_[node];
    if (kind == FuseKind::kOpaque || to.node < 0 || Leader(node) == Leader(to.node)) return;
    if (MayJoin(kind, to, node, phase)) Join(node, to.node);
  }

  // What computes an operand of a kernel that takes it as prologue, in one kernel with it. Last, so
  // that nothing else loses it.
  bool MayPrecede(FuseKind kind, int node, int to) const {
    const Prologue takes = prologues_[to];
    if (takes == Prologue::kNone || kind > FuseKind::kInjective) return false;
    const auto fits = [&](int leader) { return takes == Prologue::kAny || moves_[leader]; };
    if (!fits(Leader(node))) return false;
    for (const int between : Between(node, to)) {
      if (between != to && !fits(Leader(between))) return false;
    }
    return WaysAllow(node, to, FuseKind::kInjective, [](FuseKind) { return true; });
  }

  bool MayJoin(FuseKind kind, const PostDominator& to, int node, int phase) const {
    if (phase == 2) return MayPrecede(kind, node, to.node);
    if (kind == FuseKind::kComplex) {  // its epilogue: elementwise on its result
      return phase == 0 && to.kind == FuseKind::kElemwise &&
             WaysAllow(node, to.node, FuseKind::kBroadcast,
                       [](FuseKind last) { return last <= FuseKind::kBroadcast; });
    }
    if (kind <= FuseKind::kBroadcast) {
      return to.kind <= FuseKind::kReduction &&
             WaysAllow(node, to.node, FuseKind::kInjective,
                       [](FuseKind last) { return last <= FuseKind::kComplex; });
    }
    if (kind == FuseKind::kInjective) {
      return phase == 1 && to.kind <= FuseKind::kInjective &&
             WaysAllow(node, to.node, FuseKind::kInjective,
                       [](FuseKind last) { return last <= FuseKind::kInjective; });
    }
    return false;  // a reduction ends its kernel
  }

  // The nodes on the ways from `from` to `to`, without `from`.
  std::vector<int> Between(int from, int to) const {
    std::vector<int> found;
    std::unordered_set<int> seen;
    std::vector<int> todo{from};
    while (!todo.empty() && static_cast<int>(found.size()) <= limits_.nodes) {
      const int node = todo.back();
      todo.pop_back();
      if (node == to) continue;
      for (const FlowNode::Edge& edge : graph_[node].edges) {
        if (!seen.insert(edge.user).second) continue;
        found.push_back(edge.user);
        todo.push_back(edge.user);
      }
    }
    return found;
  }

  template <typename Last>
  bool WaysAllow(int from, int to, FuseKind highest_between, Last last_allowed) const {
    std::unordered_set<int> groups{Leader(from)};
    int nodes = size_[Leader(from)];
    int inputs = inputs_[Leader(from)];
    for (int node : Between(from, to)) {
      const int leader = Leader(node);
      if (groups.insert(leader).second) {
        nodes += size_[leader];
        inputs += inputs_[leader];
      }
      const FuseKind kind = group_kind_[leader];
      if (node == to ? !last_allowed(kind) : kind > highest_between) return false;
    }
    // The value of each node but the last is read inside.
    return nodes <= limits_.nodes && inputs - (nodes - 1) <= limits_.inputs;
  }

  void Join(int from, int to) {
    std::vector<int> joined = Between(from, to);
    joined.push_back(from);
    const int target = Leader(to);
    for (int node : joined) {
      const int leader = Leader(node);
      if (leader == target) continue;
      leader_[leader] = target;
      size_[target] += size_[leader];
      inputs_[target] += inputs_[leader];
      moves_[target] = moves_[target] && moves_[leader];
      group_kind_[target] = std::max(group_kind_[target], group_kind_[leader]);
    }
  }

  const std::vector<FlowNode>& graph_;
  const std::vector<PostDominator> dominators_;
  const std::vector<FuseKind>& kinds_;
  const GroupLimits limits_;
  std::vector<int> leader_;
  std::vector<FuseKind> group_kind_;  // of leaders
  std::vector<int> size_;             // of leaders
  std::vector<int> inputs_;           // of leaders: of all their nodes, from inside, too
  std::vector<Prologue> prologues_;
  std::vector<bool> moves_;  // of leaders
};

}  // namespace

std::vector<int> FusionGroups(const std::vector<FlowNode>& graph,
                              const std::vector<FuseKind>& kinds, const GroupLimits& limits,
                              const std::vector<Prologue>& prologues,
                              const std::vector<bool>& moves) {
  return Grouping(graph, kinds, limits, prologues, moves).Run();
}

}  // namespace hone::passes
