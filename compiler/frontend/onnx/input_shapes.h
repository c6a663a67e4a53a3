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

// A symbolic extent of an input gets its number from the shape that `options.shapes` has for the
// input, else from the shape of its value in `options.values`. Otherwise it gets the number that
// `options.dims`, and the shapes given for other inputs in `options`, have for its symbol, if these
// agree. Inputs in `options.constants` are not in the result. kInvalidArgument: extents stay open,
// which are named all at once with flags to copy; a shape is not the model's; the model does not
// have a symbol of `options.dims`; a shape gives a symbol another number than `options.dims`.
absl::StatusOr<InputShapes> ShapesOfInputs(const OnnxModel& model, const ImportOptions& options);

// kInvalidArgument where `--shape` gives the input a shape that is not the model's.
absl::Status CheckShape(const OnnxInput& input, const std::vector<int64_t>& shape);

// "1,3,height,?": as messages have it.
std::string SymbolicShape(const OnnxInput& input);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_INPUT_SHAPES_H_
