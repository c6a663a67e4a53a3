// 4-bit integers of a model. Until they are cast or dequantised, the graph IR has them as int8 or
// uint8 with the same values.
#ifndef HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_
#define HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/tensor_file.h"

namespace hone::frontend {

// kUnimplemented if the node does more with 4-bit operands than to move, cast or dequantise them:
// the type of the bytes does not show the range of 4 bits.
absl::Status CheckFourBitOperands(const NodeReader& node);

// kInvalidArgument if one of the bytes that are given for the input `name` is no 4-bit integer.
absl::Status CheckFourBitValues(const std::string& name, const TensorData& bytes);

// Whether the node's results are 4-bit integers because the node moves operands that are, or has a
// tensor of them among its attributes.
bool MovesFourBit(const NodeReader& node);

// Converts numbers to 4-bit integers that are held in the type `bytes`, int8 or uint8: floats
// saturate, integers wrap around.
absl::StatusOr<ir::Expr> ToFourBit(const ir::Expr& data, DataType bytes);
// Converts int8 or uint8 to 4-bit integers in the same type; numbers out of range saturate.
absl::StatusOr<ir::Expr> ClippedToFourBit(const ir::Expr& bytes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_
