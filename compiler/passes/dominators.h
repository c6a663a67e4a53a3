// Post-dominators of a dataflow graph, with what FuseOps needs to know of the paths to them.
#ifndef HONE_COMPILER_PASSES_DOMINATORS_H_
#define HONE_COMPILER_PASSES_DOMINATORS_H_

#include <vector>

#include "compiler/ops/op.h"

namespace hone::passes {

// A node of a dataflow graph, in which nodes are numbers and users come after what they use.
struct FlowNode {
  struct Edge {
    int user = 0;
    ops::FuseKind kind = ops::FuseKind::kOpaque;  // how the user reads the value
  };
  std::vector<Edge> edges;
  bool escapes = false;  // it is a result of the whole graph
};

struct PostDominator {
  int node = -1;  // the nearest node on every path to a result; -1 if there is none
  ops::FuseKind kind = ops::FuseKind::kElemwise;  // the highest kind on the paths to it
};

std::vector<PostDominator> PostDominators(const std::vector<FlowNode>& graph);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_DOMINATORS_H_
