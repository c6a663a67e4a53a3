// Counts what nodes add to a model each time they are expanded, as in every trip of a loop.
#ifndef HONE_COMPILER_FRONTEND_ONNX_NODE_COST_H_
#define HONE_COMPILER_FRONTEND_ONNX_NODE_COST_H_

#include <cstdint>
#include <vector>

#include "compiler/frontend/onnx/model.h"

namespace hone::frontend {

// The number of nodes, including those of their subgraphs; one of many operands counts as several.
int64_t CostOf(const std::vector<OnnxNode>& nodes);
// The same for a graph, whose inputs and outputs count, too.
int64_t CostOf(const OnnxGraph& graph);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_NODE_COST_H_
