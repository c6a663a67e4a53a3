// 4-bit integers of a model: constants that are unpacked to bytes when they are read.
#ifndef HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_
#define HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_

#include "absl/status/status.h"
#include "compiler/frontend/onnx/model.h"

namespace hone::frontend {

// An int8 or uint8 with the value of a 4-bit integer stands for it wherever nothing asks for its
// range. kUnimplemented names a node, or an output, that does: one that quantises to 4 bits, or
// computes with them and not with what they are dequantised or cast to.
absl::Status CheckFourBitUses(const OnnxModel& model);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_
