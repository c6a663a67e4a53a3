// Parts of a model: what some of its values are computed from, and where it can be cut in two.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CUT_H_
#define HONE_COMPILER_FRONTEND_ONNX_CUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/onnx/node_scope.h"

namespace hone::frontend {

// Makes these values of the main graph the model's outputs; nodes and inputs that they are not
// computed from are left out. kInvalidArgument: the graph has no such value, or one is named twice.
absl::Status CutAt(const std::vector<std::string>& outputs, OnnxModel& model);

// Converts as many of the model's nodes as it can in a scope that has its inputs and initializers.
// The values, computed from inputs, that the nodes it cannot convert read of the others, and before
// them the model's outputs that it has: where to cut. None where there is nothing to be had, or
// where these are too many for a line.
std::vector<std::string> PlacesToCut(const OnnxModel& model, NodeScope& scope);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CUT_H_
