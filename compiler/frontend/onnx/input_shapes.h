// The shapes of a model's inputs: the model's own, with numbers for what is symbolic there.
#ifndef HONE_COMPILER_FRONTEND_ONNX_INPUT_SHAPES_H_
#define HONE_COMPILER_FRONTEND_ONNX_INPUT_SHAPES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/import_options.h"
#include "compiler/frontend/onnx/model.h"

namespace hone::frontend {

struct InputShapes {
  std::map<std::string, std::vector<int64_t>> shapes;
  // A sentence about each symbol that stands for several numbers; empty where none does. That is
  // no error by itself: exporters reuse names.
  std::string note;
};

// Numbers come, the first that has one, from `options.shapes`, the shapes of `options.values`,
// `options.dims`, and from what these, and the shapes of `options.constants`, make of the symbol
// elsewhere. Inputs among the constants are none of the result's. kInvalidArgument names, all at
// once, the extents that stay open, with flags to copy; a shape that is not the model's; a symbol
// that the model does not have; one that a flag gives another number than --dim.
absl::StatusOr<InputShapes> ShapesOfInputs(const OnnxModel& model, const ImportOptions& options);

// kInvalidArgument where `--shape` gives the input a shape that is not the model's.
absl::Status CheckShape(const OnnxInput& input, const std::vector<int64_t>& shape);

// "1,3,height,?": as messages have it.
std::string SymbolicShape(const OnnxInput& input);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_INPUT_SHAPES_H_
