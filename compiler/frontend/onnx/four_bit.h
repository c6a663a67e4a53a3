// 4-bit integers of a model: int8 or uint8 with their values, from where they are read to where
// they are cast or dequantised.
#ifndef HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_
#define HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/tensor_file.h"

namespace hone::frontend {

// Such bytes do not remember their range: kUnimplemented where the node does more with 4-bit
// operands than to move, cast or dequantise them.
absl::Status CheckFourBitOperands(const NodeReader& node);

// kInvalidArgument where one of the bytes that are given for `name` is no 4-bit integer.
absl::Status CheckFourBitValues(const std::string& name, const TensorData& bytes);

// Whether the node's results are 4-bit integers since its operands, or a tensor among its
// attributes, are.
bool MovesFourBit(const NodeReader& node);

// Numbers as 4-bit integers in `bytes`, which is int8 or uint8: floats saturate, integers wrap
// around.
absl::StatusOr<ir::Expr> ToFourBit(const ir::Expr& data, DataType bytes);
// The same of bytes that saturate.
absl::StatusOr<ir::Expr> ClippedToFourBit(const ir::Expr& bytes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_FOUR_BIT_H_
