// MatMul, BatchMatMul.
#include <fmt/format.h>

#include "compiler/frontend/onnx/matrix_product.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

// nn.dense has the weights as (units, inputs).
Results MatMul(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr a, node.Given(0, "a"));
  HONE_ASSIGN_OR_RETURN(ir::Expr b, node.Given(1, "b"));
  if (RankOf(a) != 2 || RankOf(b) != 2) {
    return absl::InvalidArgumentError(fmt::format("two matrices were expected, found {} and {}",
                                                  a->type->ToString(), b->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(const bool transpose_a, node.BoolAttr("transpose_a", false));
  HONE_ASSIGN_OR_RETURN(const bool transpose_b, node.BoolAttr("transpose_b", false));
  node.Raw("grad_a");  // of training alone
  node.Raw("grad_b");
  if (transpose_a) {
    HONE_ASSIGN_OR_RETURN(a, node.layouts().Transposed(a, {1, 0}));
  }
  if (!transpose_b) {
    HONE_ASSIGN_OR_RETURN(b, node.layouts().Transposed(b, {1, 0}));
  }
  return One(Emit("nn.dense", {a, b}));
}

absl::StatusOr<ir::Expr> Adjoint(NodeReader& node, const ir::Expr& e) {
  Shape axes;
  for (int64_t i = 0; i < RankOf(e); ++i) axes.push_back(i);
  if (axes.size() < 2) return absl::InvalidArgumentError("matrices were expected, found vectors");
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return node.layouts().Transposed(e, axes);
}

Results BatchMatMul(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr a, node.Given(0, "x"));
  HONE_ASSIGN_OR_RETURN(ir::Expr b, node.Given(1, "y"));
  HONE_ASSIGN_OR_RETURN(const bool adjoint_a, node.BoolAttr("adj_x", false));
  HONE_ASSIGN_OR_RETURN(const bool adjoint_b, node.BoolAttr("adj_y", false));
  node.Raw("grad_x");  // of training alone
  node.Raw("grad_y");
  if (adjoint_a) {
    HONE_ASSIGN_OR_RETURN(a, Adjoint(node, a));
  }
  if (adjoint_b) {
    HONE_ASSIGN_OR_RETURN(b, Adjoint(node, b));
  }
  return One(MatrixProduct(a, b));
}

}  // namespace

void AddMatmulConverters(ConverterTable& table) {
  table["MatMul"] = MatMul;
  for (const char* name : {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"}) {
    table[name] = BatchMatMul;
  }
}

}  // namespace hone::frontend::tf
