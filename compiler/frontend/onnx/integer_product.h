// Products of bytes as real numbers, for the operators of com.microsoft that have one inside.
#ifndef HONE_COMPILER_FRONTEND_ONNX_INTEGER_PRODUCT_H_
#define HONE_COMPILER_FRONTEND_ONNX_INTEGER_PRODUCT_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// Bytes, and what they stand for: (data - zero_point) scale.
struct QuantizedOperand {
  ir::Expr data;
  ir::Expr scale;       // one number, or one a column of a right operand
  ir::Expr zero_point;  // the same; null is 0
};

// MatMulInteger of both, times both scales, plus `bias` unless it is null.
absl::StatusOr<ir::Expr> IntegerProduct(const NodeReader& node, const QuantizedOperand& a,
                                        const QuantizedOperand& b, const ir::Expr& bias);

// DynamicQuantizeLinear of float32.
absl::StatusOr<QuantizedOperand> QuantizeDynamically(const NodeReader& node, const ir::Expr& x);

// A matrix whose rows each went through DynamicQuantizeLinear and back.
absl::StatusOr<ir::Expr> RoundedRows(const ir::Expr& x);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_INTEGER_PRODUCT_H_
