// What converters return, and small means to make it.
#ifndef HONE_COMPILER_FRONTEND_ONNX_RESULTS_H_
#define HONE_COMPILER_FRONTEND_ONNX_RESULTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {

using Results = absl::StatusOr<std::vector<ir::Expr>>;

// One output, or the error of making it.
Results One(absl::StatusOr<ir::Expr> result);

// An axis of -rank .. rank-1 as 0 .. rank-1; kInvalidArgument names `what`.
absl::StatusOr<int64_t> AxisOf(int64_t axis, int64_t rank, std::string_view what = "axis");
// A list of them without doubles; all axes in order where there is none.
absl::StatusOr<Shape> AxesOf(const std::optional<Shape>& axes, int64_t rank);

// The place before an axis of -rank .. rank, as 0 .. rank.
absl::StatusOr<int64_t> BoundaryOf(int64_t axis, int64_t rank);

// `data` in another shape of as many elements, which may be 0; `data` itself where it has it.
absl::StatusOr<ir::Expr> ReshapedTo(const ir::Expr& data, const Shape& shape);
// `data` in another element type; `data` itself where it has it.
absl::StatusOr<ir::Expr> CastedTo(const ir::Expr& data, DataType dtype);
// The same for a constant, whose result is a constant.
absl::StatusOr<ir::Expr> CastConstant(const ir::Expr& constant, DataType dtype);
// The items of a call that gives a tuple.
std::vector<ir::Expr> ItemsOf(const ir::Expr& call);
// Positions [begin, end) of one axis.
absl::StatusOr<ir::Expr> SliceOf(const ir::Expr& data, int64_t axis, int64_t begin, int64_t end);
// Along one axis; of one part, that one. Of many, in groups: a kernel tells its parts apart one by
// one.
absl::StatusOr<ir::Expr> ConcatenationOf(std::vector<ir::Expr> parts, int64_t axis);

// The value of an expression of constants; kUnimplemented where it has variables.
absl::StatusOr<ir::Expr> ConstantOf(const ir::Expr& e);
// The numbers of an expression of constants of any type as doubles; kUnimplemented says that `what`
// is computed at run time.
absl::StatusOr<std::vector<double>> ConstantNumbers(const ir::Expr& e, std::string_view what);
// The same of integers, exactly.
absl::StatusOr<std::vector<int64_t>> ConstantIntegers(const ir::Expr& e, std::string_view what);
// Whether ConstantNumber has it: a constant, but of uint64, which has numbers that are neither a
// double nor an int64.
bool IsNumberOfAttr(const ir::Expr& e);
// One number as an attribute holds it: a double, and an integer where no double is that.
absl::StatusOr<ir::AttrValue> ConstantNumber(const ir::Expr& e, std::string_view what);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RESULTS_H_
