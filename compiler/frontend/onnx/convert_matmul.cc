// Gemm and MatMul.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<ir::Expr> TransposeIf(bool transpose, const ir::Expr& e) {
  if (!transpose) return e;
  Shape axes;
  for (int64_t i = 0; i < RankOf(e); ++i) axes.push_back(i);
  if (axes.size() >= 2) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return Emit("transpose", {e}, {{"axes", axes}});
}

absl::StatusOr<ir::Expr> Scale(double factor, const ir::Expr& e) {
  if (factor == 1) return e;
  return Emit("multiply", {e, ScalarConstant(factor, DtypeOf(e))});
}

// A vector of the columns is a bias; anything else broadcasts.
absl::StatusOr<ir::Expr> AddC(const ir::Expr& product, const ir::Expr& c) {
  const int64_t columns = ShapeOf(product)[1];
  const Shape row = {1, columns};
  if (ShapeOf(c) == row || ShapeOf(c) == Shape{columns}) {
    ir::Expr bias = c;
    if (RankOf(c) == 2) {
      HONE_ASSIGN_OR_RETURN(bias, Emit("reshape", {c}, {{"newshape", Shape{columns}}}));
    }
    return Emit("nn.bias_add", {product, bias}, {{"axis", int64_t{1}}});
  }
  return Emit("add", {product, c});
}

absl::StatusOr<std::vector<ir::Expr>> Gemm(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr a, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(ir::Expr b, node.Arg(1, "B"));
  HONE_ASSIGN_OR_RETURN(const int64_t trans_a, node.Int("transA", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t trans_b, node.Int("transB", 0));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1));
  HONE_ASSIGN_OR_RETURN(const double beta, node.Float("beta", 1));
  HONE_RETURN_IF_ERROR(node.Int("broadcast", 0).status());  // opset 6; what later opsets always do
  if (RankOf(a) != 2 || RankOf(b) != 2) {
    return absl::InvalidArgumentError(
        fmt::format("A and B of rank 2 were expected, found {} and {}", a->type->ToString(),
                    b->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(a, TransposeIf(trans_a != 0, a));
  HONE_ASSIGN_OR_RETURN(b, TransposeIf(trans_b == 0, b));
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("nn.dense", {a, b}));
  HONE_ASSIGN_OR_RETURN(result, Scale(alpha, result));
  if (node.Has(2) && beta != 0) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr c, Scale(beta, node.args()[2]));
    HONE_ASSIGN_OR_RETURN(result, AddC(result, c));
  }
  return std::vector<ir::Expr>{result};
}

int64_t ProductOf(const Shape& shape, size_t count) {
  int64_t product = 1;
  for (size_t i = 0; i < count; ++i) product *= shape[i];
  return product;
}

// A stack of matrices by one matrix is one dense of all rows.
absl::StatusOr<ir::Expr> StackByMatrix(const ir::Expr& a, const ir::Expr& b) {
  Shape shape = ShapeOf(a);
  const int64_t depth = shape.back();
  HONE_ASSIGN_OR_RETURN(const ir::Expr weight, TransposeIf(true, b));
  ir::Expr rows = a;
  if (shape.size() != 2) {
    const int64_t count = ProductOf(shape, shape.size() - 1);
    HONE_ASSIGN_OR_RETURN(rows, Emit("reshape", {a}, {{"newshape", Shape{count, depth}}}));
  }
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("nn.dense", {rows, weight}));
  if (shape.size() == 2) return result;
  shape.back() = ShapeOf(b)[1];
  return Emit("reshape", {result}, {{"newshape", shape}});
}

// Two stacks of one shape.
absl::StatusOr<ir::Expr> StackByStack(const ir::Expr& a, const ir::Expr& b) {
  Shape shape = ShapeOf(a);
  const size_t rank = shape.size();
  const Shape outer_a(shape.begin(), shape.end() - 2);
  const Shape outer_b(ShapeOf(b).begin(), ShapeOf(b).end() - 2);
  if (outer_a != outer_b) {
    return absl::UnimplementedError(fmt::format(
        "Hone multiplies stacks of matrices of equal outer extents only, found {} and {}",
        a->type->ToString(), b->type->ToString()));
  }
  const int64_t batch = ProductOf(shape, rank - 2);
  const Shape flat_a = {batch, shape[rank - 2], shape[rank - 1]};
  const Shape flat_b = {batch, ShapeOf(b)[rank - 2], ShapeOf(b)[rank - 1]};
  HONE_ASSIGN_OR_RETURN(const ir::Expr left, Emit("reshape", {a}, {{"newshape", flat_a}}));
  HONE_ASSIGN_OR_RETURN(const ir::Expr stack, Emit("reshape", {b}, {{"newshape", flat_b}}));
  HONE_ASSIGN_OR_RETURN(const ir::Expr right, TransposeIf(true, stack));
  HONE_ASSIGN_OR_RETURN(const ir::Expr product, Emit("nn.batch_matmul", {left, right}));
  shape.back() = ShapeOf(b).back();
  return Emit("reshape", {product}, {{"newshape", shape}});
}

absl::StatusOr<std::vector<ir::Expr>> MatMul(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "B"));
  if (RankOf(a) < 2 || RankOf(b) < 2 || (RankOf(b) > 2 && RankOf(b) != RankOf(a))) {
    return absl::UnimplementedError(
        fmt::format("Hone multiplies matrices and stacks of them, found {} and {}",
                    a->type->ToString(), b->type->ToString()));
  }
  if (ShapeOf(a).back() != ShapeOf(b)[RankOf(b) - 2]) {
    return absl::InvalidArgumentError(
        fmt::format("{} and {} cannot be multiplied", a->type->ToString(), b->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(ir::Expr result, RankOf(b) == 2 ? StackByMatrix(a, b) : StackByStack(a, b));
  return std::vector<ir::Expr>{result};
}

}  // namespace

void AddMatmulConverters(ConverterTable& table) {
  table["Gemm"] = Gemm;
  table["MatMul"] = MatMul;
}

}  // namespace hone::frontend
