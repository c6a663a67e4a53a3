// Whether Hone has all that a model uses.
#ifndef HONE_COMPILER_FRONTEND_ONNX_SUPPORTED_H_
#define HONE_COMPILER_FRONTEND_ONNX_SUPPORTED_H_

#include "absl/status/status.h"
#include "compiler/frontend/onnx/model.h"

namespace hone::frontend {

inline constexpr int64_t kNewestOpset = 28;

// kUnimplemented names an opset that Hone does not read and all operators that it does not have,
// those of bodies and functions too, at once, so that a user learns the whole distance in one run.
// kInvalidArgument if the model's functions call each other in a circle.
absl::Status CheckSupported(const OnnxModel& model);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_SUPPORTED_H_
