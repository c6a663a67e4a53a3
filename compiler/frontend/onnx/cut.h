// Cuts models: keeps the part that some values are computed from, and finds where a model can be
// cut.
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

// Converts as many of the model's nodes as it can in `scope`, which has the model's inputs and
// initializers, and returns the names of values at which the model can be cut: first the outputs of
// the model that it could convert, then what nodes that it could not convert read of the others.
// All are computed from inputs. Empty if it could convert all nodes, if there is no such value, or
// if there are too many for a line.
std::vector<std::string> PlacesToCut(const OnnxModel& model, NodeScope& scope);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CUT_H_
