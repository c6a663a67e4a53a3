// Models in files that end in .pb, and in bytes.
#ifndef HONE_COMPILER_FRONTEND_PB_MODEL_H_
#define HONE_COMPILER_FRONTEND_PB_MODEL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// Whether the message has a field 7 of bytes, an ONNX model's graph, which no GraphDef has.
bool LooksLikeOnnx(std::string_view bytes);

// A frozen GraphDef as ImportTensorflow takes it, or an ONNX model as ImportOnnx does.
absl::StatusOr<ir::Module> ImportPb(const std::string& path, const ImportOptions& options = {});
// The same in memory; an ONNX model with external data is refused.
absl::StatusOr<ir::Module> ImportPbBytes(std::string_view bytes, const ImportOptions& options = {});

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_PB_MODEL_H_
