// Imports models whose files end in .pb, which may be TensorFlow's or ONNX's.
#ifndef HONE_COMPILER_FRONTEND_PB_MODEL_H_
#define HONE_COMPILER_FRONTEND_PB_MODEL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Whether the protobuf message has a length-delimited field 7: the graph of an ONNX model. A
// GraphDef has no such field.
bool LooksLikeOnnx(std::string_view bytes);

// Imports a model that looks like ONNX as ImportOnnx does, any other as ImportTensorflow does.
absl::StatusOr<ir::Module> ImportPb(const std::string& path, const ImportOptions& options = {});
// The same in memory; an ONNX model with external data is refused.
absl::StatusOr<ir::Module> ImportPbBytes(std::string_view bytes, const ImportOptions& options = {});

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_PB_MODEL_H_
