// Products of quantised bytes as real numbers, for operators of com.microsoft that contain one.
#ifndef HONE_COMPILER_FRONTEND_ONNX_INTEGER_PRODUCT_H_
#define HONE_COMPILER_FRONTEND_ONNX_INTEGER_PRODUCT_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// Bytes that stand for the numbers (data - zero_point) * scale.
struct QuantizedOperand {
  ir::Expr data;
  ir::Expr scale;       // one number, or for a right operand one for each column
  ir::Expr zero_point;  // the same; null stands for 0
};

// MatMulInteger of both operands, times both scales, plus `bias` unless that is null.
absl::StatusOr<ir::Expr> IntegerProduct(const NodeReader& node, const QuantizedOperand& a,
                                        const QuantizedOperand& b, const ir::Expr& bias);

// DynamicQuantizeLinear of a float32 tensor.
absl::StatusOr<QuantizedOperand> QuantizeDynamically(const NodeReader& node, const ir::Expr& x);

// The matrix `x` after each of its rows went through DynamicQuantizeLinear and back.
absl::StatusOr<ir::Expr> RoundedRows(const ir::Expr& x);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_INTEGER_PRODUCT_H_
