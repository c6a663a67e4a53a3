// What converters return, and small functions to make it.
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
// The same for a list of axes, none of which may come twice; all axes in order if `axes` is
// nullopt.
absl::StatusOr<Shape> AxesOf(const std::optional<Shape>& axes, int64_t rank);

// The same for the place before an axis: -rank .. rank as 0 .. rank, which is behind the last axis.
absl::StatusOr<int64_t> BoundaryOf(int64_t axis, int64_t rank);

// `data` in another shape with as many elements, which may be none; `data` itself if it has that
// shape already.
absl::StatusOr<ir::Expr> ReshapedTo(const ir::Expr& data, const Shape& shape);
// `data` cast to another element type; `data` itself if it has that type already.
absl::StatusOr<ir::Expr> CastedTo(const ir::Expr& data, DataType dtype);
// The same for a constant; the result is a constant, too.
absl::StatusOr<ir::Expr> CastConstant(const ir::Expr& constant, DataType dtype);
// The items of a call that gives a tuple.
std::vector<ir::Expr> ItemsOf(const ir::Expr& call);
// Positions [begin, end) of one axis.
absl::StatusOr<ir::Expr> SliceOf(const ir::Expr& data, int64_t axis, int64_t begin, int64_t end);
// Joins at least one part along an axis; one part alone is returned as it is. Many parts are joined
// in groups, for a kernel tells its parts apart one by one.
absl::StatusOr<ir::Expr> ConcatenationOf(std::vector<ir::Expr> parts, int64_t axis);

// The value of an expression of constants; kUnimplemented if it has variables, or is too large.
absl::StatusOr<ir::Expr> ConstantOf(const ir::Expr& e);
// The elements of an expression of constants, of any type, as doubles; kUnimplemented says that
// `what` must be known at compile time.
absl::StatusOr<std::vector<double>> ConstantNumbers(const ir::Expr& e, std::string_view what);
// The same for integers, which are exact; kInvalidArgument for floats.
absl::StatusOr<std::vector<int64_t>> ConstantIntegers(const ir::Expr& e, std::string_view what);
// Whether ConstantNumber can hold the elements of `e`: it is a constant, and not of uint64, some
// numbers of which are neither a double nor an int64.
bool IsNumberOfAttr(const ir::Expr& e);
// The one element of `e` as attributes hold it: a double, or an int64 if it is an integer from 2^53
// on, which doubles may not represent.
absl::StatusOr<ir::AttrValue> ConstantNumber(const ir::Expr& e, std::string_view what);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RESULTS_H_
