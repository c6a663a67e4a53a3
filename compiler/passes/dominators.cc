#include "compiler/passes/dominators.h"

#include <algorithm>

namespace hone::passes {
namespace {

// The tree as far as it is built, from the last node backwards.
class Tree {
 public:
  explicit Tree(size_t size) : dominators_(size), depth_(size, 1) {}

  void Add(int node, const FlowNode& flow) {
    PostDominator dominator;
    if (!flow.escapes && !flow.edges.empty()) {
      dominator.node = flow.edges[0].user;
      for (const FlowNode::Edge& edge : flow.edges) {
        dominator.kind = std::max(dominator.kind, edge.kind);
        dominator.node = Meet(dominator.node, edge.user, &dominator.kind);
      }
    }
    dominators_[node] = dominator;
    depth_[node] = dominator.node < 0 ? 1 : depth_[dominator.node] + 1;
  }

  std::vector<PostDominator> Take() { return std::move(dominators_); }

 private:
  int Meet(int a, int b, ops::FuseKind* kind) const {
    while (a != b) {
      if (a < 0 || b < 0) return -1;
      int& deeper = depth_[a] >= depth_[b] ? a : b;
      *kind = std::max(*kind, dominators_[deeper].kind);
      deeper = dominators_[deeper].node;
    }
    return a;
  }

  std::vector<PostDominator> dominators_;
  std::vector<int> depth_;
};

}  // namespace

std::vector<PostDominator> PostDominators(const std::vector<FlowNode>& graph) {
  Tree tree(graph.size());
  for (size_t i = graph.size(); i-- > 0;) tree.Add(static_cast<int>(i), graph[i]);
  return tree.Take();
}

}  // namespace hone::passes
