// Gemm, MatMul and Det.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/matrix_product.h"
#include "compiler/frontend/onnx/sparse_tensor.h"
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

// Integers are scaled as doubles, for the factor may be none.
absl::StatusOr<ir::Expr> Scale(double factor, const ir::Expr& e) {
  if (factor == 1) return e;
  Formula f;
  const ir::Expr x = IsFloat(DtypeOf(e)) ? e : f.Cast(e, DataType::kFloat64);
  return f.FinishOne(f.Cast(f.Mul(x, f.Number(factor, x)), DtypeOf(e)));
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
ir::Expr StackByMatrix(Formula& f, const Multiply& multiply, const ir::Expr& a, const ir::Expr& b) {
  Shape shape = ShapeOf(a);
  const int64_t count = ProductOf(shape, shape.size() - 1);
  const ir::Expr rows = f.Reshape(a, {count, shape.back()});
  const ir::Expr product = multiply(f, false, rows, f.Transpose(b, {1, 0}));
  shape.back() = ShapeOf(b)[1];
  return f.Reshape(product, shape);
}

// A stack of matrices with the outer extents `outer`, by repeating what has extent 1, flat.
ir::Expr FlatStack(Formula& f, const ir::Expr& e, const Shape& outer) {
  Shape own = ShapeOf(e);
  const Shape matrix(own.end() - 2, own.end());
  own.resize(own.size() - 2);
  own.insert(own.begin(), outer.size() - own.size(), 1);
  Shape full = own;
  full.insert(full.end(), matrix.begin(), matrix.end());
  const bool one = ProductOf(own, own.size()) == 1;  // batch_matmul repeats that
  ir::Expr stack = f.Reshape(e, full);
  for (size_t i = 0; i < outer.size() && !one; ++i) {
    if (own[i] == outer[i]) continue;
    const ir::Expr first = IntsConstant(std::vector<int64_t>(outer[i], 0));
    stack = f.Call("take", {stack, first}, {{"axis", static_cast<int64_t>(i)}});
  }
  const int64_t count = one ? 1 : ProductOf(outer, outer.size());
  return f.Reshape(stack, {count, matrix[0], matrix[1]});
}

// How often a matrix may be repeated: the list of its copies is a constant.
constexpr int64_t kMostCopies = int64_t{1} << 24;

// numpy's rule for the outer extents.
absl::StatusOr<Shape> OuterExtents(const ir::Expr& a, const ir::Expr& b) {
  Shape x(ShapeOf(a).begin(), ShapeOf(a).end() - 2);
  Shape y(ShapeOf(b).begin(), ShapeOf(b).end() - 2);
  const size_t rank = std::max(x.size(), y.size());
  x.insert(x.begin(), rank - x.size(), 1);
  y.insert(y.begin(), rank - y.size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    if (x[i] != y[i] && x[i] != 1 && y[i] != 1) {
      return absl::InvalidArgumentError(fmt::format("the outer extents of {} and {} do not fit",
                                                    a->type->ToString(), b->type->ToString()));
    }
    if (x[i] != y[i] && std::max(x[i], y[i]) > kMostCopies) {
      return absl::UnimplementedError(
          fmt::format("Hone repeats matrices at most {} times, found {} and {}", kMostCopies,
                      a->type->ToString(), b->type->ToString()));
    }
    x[i] = x[i] == 1 ? y[i] : x[i];
  }
  return x;
}

// Operands of rank 2 or more.
absl::StatusOr<ir::Expr> Product(Formula& f, const Multiply& multiply, const ir::Expr& a,
                                 const ir::Expr& b) {
  if (ShapeOf(a).back() != ShapeOf(b)[RankOf(b) - 2]) {
    return absl::InvalidArgumentError(
        fmt::format("{} and {} cannot be multiplied", a->type->ToString(), b->type->ToString()));
  }
  if (RankOf(b) == 2) return f.FinishOne(StackByMatrix(f, multiply, a, b));
  HONE_ASSIGN_OR_RETURN(Shape shape, OuterExtents(a, b));
  const ir::Expr left = FlatStack(f, a, shape);
  const ir::Expr right = f.Transpose(FlatStack(f, b, shape), {0, 2, 1});
  const ir::Expr product = multiply(f, true, left, right);
  shape.push_back(ShapeOf(a)[RankOf(a) - 2]);
  shape.push_back(ShapeOf(b).back());
  return f.FinishOne(f.Reshape(product, shape));
}

}  // namespace

ir::Expr MultiplyFloats(Formula& f, bool batched, const ir::Expr& rows, const ir::Expr& columns) {
  return f.Call(batched ? "nn.batch_matmul" : "nn.dense", {rows, columns});
}

// A vector on the left is a row, one on the right a column; the result has no such axis.
absl::StatusOr<ir::Expr> MatrixProduct(const ir::Expr& a, const ir::Expr& b,
                                       const Multiply& multiply) {
  if (RankOf(a) == 0 || RankOf(b) == 0) {
    return absl::InvalidArgumentError(
        fmt::format("vectors, matrices or stacks of them were expected, found {} and {}",
                    a->type->ToString(), b->type->ToString()));
  }
  Formula f;
  const ir::Expr left = RankOf(a) == 1 ? f.Reshape(a, {1, ShapeOf(a)[0]}) : a;
  const ir::Expr right = RankOf(b) == 1 ? f.Reshape(b, {ShapeOf(b)[0], 1}) : b;
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(const ir::Expr product, Product(f, multiply, left, right));
  Shape shape = ShapeOf(product);
  if (RankOf(b) == 1) shape.pop_back();
  if (RankOf(a) == 1) shape.erase(shape.end() - (RankOf(b) == 1 ? 1 : 2));
  return f.FinishOne(f.Reshape(product, shape));
}

namespace {

// The sparse operand times the rows of `dense`; kept apart only where the other is a matrix or, on
// the right, a vector.
Results SparseProduct(NodeReader& node) {
  const bool left = node.Sparse(0) != nullptr;
  const SparseInitializer& sparse = *node.Sparse(left ? 0 : 1);
  HONE_ASSIGN_OR_RETURN(const ir::Expr dense, node.Arg(left ? 1 : 0, left ? "B" : "A"));
  const Shape& shape = sparse.type.shape;
  const int64_t inner = RankOf(dense) == 2 ? ShapeOf(dense)[left ? 0 : 1] : ShapeOf(dense)[0];
  if (shape[left ? 1 : 0] != inner) {
    const std::string types[] = {sparse.type.ToString(), dense->type->ToString()};
    return absl::InvalidArgumentError(
        fmt::format("{} and {} cannot be multiplied", types[left ? 0 : 1], types[left ? 1 : 0]));
  }
  HONE_RETURN_IF_ERROR(node.Generate(CsrBytes(sparse)));
  const ops::Csr csr = left ? CsrConstants(sparse) : TransposedCsrConstants(sparse);
  Formula f;
  ir::Expr other = RankOf(dense) == 1 ? f.Reshape(dense, {inner, 1}) : dense;
  if (!left && RankOf(dense) == 2) other = f.Transpose(other, {1, 0});
  ir::Expr product =
      f.Call("nn.sparse_dense", {csr.data, csr.indices, csr.indptr, std::move(other)});
  if (RankOf(dense) == 1) product = f.Reshape(product, {shape[left ? 0 : 1]});
  if (!left && RankOf(dense) == 2) product = f.Transpose(product, {1, 0});
  return f.Finish({product});
}

// Operands that stay sparse: one matrix of floats, and no stack of matrices beside it.
absl::StatusOr<bool> IsSparseProduct(NodeReader& node) {
  if (node.Sparse(0) != nullptr && node.Sparse(1) != nullptr) {
    HONE_RETURN_IF_ERROR(node.Densify(1));
  }
  for (const size_t i : {0, 1}) {
    const SparseInitializer* const sparse = node.Sparse(i);
    if (sparse == nullptr) continue;
    HONE_ASSIGN_OR_RETURN(const ir::Expr other, node.Arg(1 - i, i == 0 ? "B" : "A"));
    const bool fits = sparse->type.shape.size() == 2 && IsFloat(sparse->type.dtype) &&
                      DtypeOf(other) == sparse->type.dtype &&
                      (RankOf(other) == 1 || RankOf(other) == 2);
    if (fits) return true;
    HONE_RETURN_IF_ERROR(node.Densify(i));
  }
  return false;
}

Results MatMul(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const bool sparse, IsSparseProduct(node));
  if (sparse) return SparseProduct(node);
  HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "B"));
  HONE_ASSIGN_OR_RETURN(ir::Expr result, MatrixProduct(a, b));
  return std::vector<ir::Expr>{result};
}

// The determinants of a stack of square matrices.
Results Det(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  Formula f;
  return f.Finish({f.Cast(f.Call("linalg.det", {f.Wide(x)}), DtypeOf(x))});
}

}  // namespace

void AddMatmulConverters(ConverterTable& table) {
  table["Det"] = Det;
  table["Gemm"] = Gemm;
  table["MatMul"] = MatMul;
}

}  // namespace hone::frontend
