// linalg.det: the determinants of a stack of square matrices, by elimination with partial pivoting.
// Each step is a few stages: which row has the largest element, what is left of the matrix, and the
// product so far.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using Combiner = loop::NestBuilder::Combiner;
using Axes = std::vector<Expr>;

constexpr char kName[] = "linalg.det";
constexpr int64_t kMostRows = 32;  // four stages a row

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  const size_t rank = data.shape.size();
  const bool square = rank >= 2 && data.shape[rank - 1] == data.shape[rank - 2];
  if (!square || !IsFloat(data.dtype) || data.shape[rank - 1] > kMostRows) {
    return OperandError(kName, "data",
                        fmt::format("square matrices of floats of at most {} rows", kMostRows),
                        data.ToString());
  }
  return TensorOf(Shape(data.shape.begin(), data.shape.end() - 2), data.dtype);
}

// The index of an element: that of the matrix, then row and column.
Axes At(const Axes& batch, const Expr& row, const Expr& column) {
  Axes index = batch;
  index.push_back(row);
  index.push_back(column);
  return index;
}

struct Elimination {
  loop::NestBuilder& builder;
  DataType dtype;
  Shape batch;
  loop::Buffer matrix;  // of `size` rows: what is left
  loop::Buffer det;     // null before the first step
  int64_t size;

  // The row of the largest element of the first column.
  loop::Buffer Pivot() {
    const std::vector<int64_t> rows = {size};
    const auto magnitude = [&](const Axes& b, const Axes& r) {
      return loop::Unary(loop::UnaryOp::kAbs, loop::Load(matrix, At(b, r[0], 0)));
    };
    const loop::Buffer largest = builder.Reduce("det_largest", dtype, batch, rows, Combiner::kMax,
                                                loop::Const(0, dtype), magnitude);
    return builder.Reduce("det_pivot", DataType::kInt64, batch, rows, Combiner::kMin,
                          loop::IntConst(size - 1), [&](const Axes& b, const Axes& r) {
                            const Expr here = loop::Eq(magnitude(b, r), loop::Load(largest, b));
                            return loop::Select(here, r[0], loop::IntConst(size - 1));
                          });
  }

  // Row and column 0 go: the pivot row and row 0 change places, and the pivot's multiples are
  // subtracted from the rest.
  void Step() {
    const loop::Buffer pivot = Pivot();
    const Expr last = loop::IntConst(size - 1);
    const auto pivot_row = [&](const Axes& b) {
      // Within the matrix by construction; the bounds tell code generation so.
      return Min(Max(loop::Load(pivot, b), loop::IntConst(0)), last);
    };
    const loop::Buffer from = matrix;
    const loop::Buffer before = det;
    det = builder.Compute("det_product", dtype, batch, [&](const Axes& b) {
      const Expr value = loop::Load(from, At(b, pivot_row(b), 0));
      const Expr stays = loop::Eq(pivot_row(b), loop::IntConst(0));
      const Expr factor = loop::Select(stays, value, loop::Unary(loop::UnaryOp::kNeg, value));
      return before ? loop::Load(before, b) * factor : factor;
    });
    if (--size == 0) return;
    Shape shape = batch;
    shape.insert(shape.end(), 2, size);
    matrix = builder.Compute("det_rest", dtype, shape, [&](const Axes& axes) {
      const Axes b(axes.begin(), axes.end() - 2);
      const Expr row = axes[axes.size() - 2] + loop::IntConst(1);
      const Expr column = axes.back() + loop::IntConst(1);
      const Expr source = loop::Select(loop::Eq(row, pivot_row(b)), loop::IntConst(0), row);
      const Expr value = loop::Load(from, At(b, pivot_row(b), 0));
      // A column of zeros: the determinant is 0 already, and 0 / 0 would make it NaN.
      const Expr divisor =
          loop::Select(loop::Eq(value, loop::Const(0, dtype)), loop::Const(1, dtype), value);
      const Expr factor = Divide(loop::Load(from, At(b, source, 0)), divisor);
      return loop::Load(from, At(b, source, column)) -
             factor * loop::Load(from, At(b, pivot_row(b), column));
    });
  }
};

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Type& result) {
  const DataType dtype = AccumulatorType(args[0]->dtype);
  Elimination elimination = {builder,
                             dtype,
                             result.tensor.shape,
                             CastStage(builder, "det_data", args[0], dtype),
                             nullptr,
                             args[0]->shape.back()};
  if (elimination.size == 0) {
    return {builder.Compute("det", result.tensor.dtype, result.tensor.shape,
                            [&](const Axes&) { return loop::Const(1, result.tensor.dtype); })};
  }
  while (elimination.size > 0) elimination.Step();
  return {CastStage(builder, "det", elimination.det, result.tensor.dtype)};
}

}  // namespace

void RegisterDet(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.kind = FuseKind::kOpaque;
  op.infer_type = [](const auto& args, const auto&) { return Infer(args); };
  op.define = [](auto& builder, const auto& args, const auto&, const auto& result) {
    return Define(builder, args, result);
  };
  op.flops = [](const auto& args, const auto&, const auto&) {
    return static_cast<double>(args[0].tensor.ElementCount() * args[0].tensor.shape.back()) * 2 / 3;
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
