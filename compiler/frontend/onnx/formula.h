// Builds operators that are compositions of others: chains of calls without a check after each.
#ifndef HONE_COMPILER_FRONTEND_ONNX_FORMULA_H_
#define HONE_COMPILER_FRONTEND_ONNX_FORMULA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/results.h"

namespace hone::frontend {

// A call returns null after the first error, and if an operand is null; Finish returns the error.
// Not thread-safe.
class Formula {
 public:
  ir::Expr Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs = {});

  ir::Expr Add(ir::Expr a, ir::Expr b) { return Call("add", {std::move(a), std::move(b)}); }
  ir::Expr Sub(ir::Expr a, ir::Expr b) { return Call("subtract", {std::move(a), std::move(b)}); }
  ir::Expr Mul(ir::Expr a, ir::Expr b) { return Call("multiply", {std::move(a), std::move(b)}); }
  ir::Expr Div(ir::Expr a, ir::Expr b) { return Call("divide", {std::move(a), std::move(b)}); }
  ir::Expr Max(ir::Expr a, ir::Expr b) { return Call("maximum", {std::move(a), std::move(b)}); }
  ir::Expr Min(ir::Expr a, ir::Expr b) { return Call("minimum", {std::move(a), std::move(b)}); }
  ir::Expr Less(ir::Expr a, ir::Expr b) { return Call("less", {std::move(a), std::move(b)}); }
  ir::Expr Where(ir::Expr c, ir::Expr a, ir::Expr b) {
    return Call("where", {std::move(c), std::move(a), std::move(b)});
  }

  // A number of the type of `like`.
  ir::Expr Number(double value, const ir::Expr& like);
  // These return `x` itself if it has that type, shape or order of axes already.
  ir::Expr Cast(const ir::Expr& x, DataType dtype);
  ir::Expr Reshape(const ir::Expr& x, const Shape& shape);
  // A tensor of one element as a scalar; others as they are.
  ir::Expr Squeezed(const ir::Expr& x);
  ir::Expr Transpose(const ir::Expr& x, const Shape& axes);
  // Positions [begin, end) of one axis. Concat puts parts one behind the other along an axis.
  ir::Expr Slice(const ir::Expr& x, int64_t axis, int64_t begin, int64_t end);
  ir::Expr Concat(std::vector<ir::Expr> parts, int64_t axis);
  // 16-bit floats as float32, in which compositions are computed; anything else as it is.
  ir::Expr Wide(const ir::Expr& x);

  // The first error.
  const absl::Status& status() const { return status_; }
  Results Finish(std::vector<ir::Expr> results) const;
  absl::StatusOr<ir::Expr> FinishOne(ir::Expr result) const;

 private:
  // The value of `made`; if that is an error, keeps it and returns null.
  ir::Expr Take(absl::StatusOr<ir::Expr> made);

  absl::Status status_;
};

// Operand `i` of the node, Squeezed; a zero of type `dtype` if the operand is left out.
ir::Expr ZeroPoint(Formula& f, const NodeReader& node, size_t i, DataType dtype);

// The shape in which a vector of `extent` elements broadcasts along `axis` of tensors of `rank`
// axes.
Shape AlongAxis(int64_t extent, int64_t axis, int64_t rank);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_FORMULA_H_
