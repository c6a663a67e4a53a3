#include "compiler/passes/sparsify_constants.h"

#include "compiler/ops/attrs.h"
#include "compiler/ops/csr.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;

// How many elements of a matrix may be other than 0 for CSR to be worth it; negative: none. A
// multiplication by a stored element, and a row, cost as much as eight multiplications in a
// register tile: spmm runs at a third of dense's rate where the dense operand is in a cache, and at
// less where it is not. `moved` are the rows that are transposed on the way, element by element.
int64_t MostNonzeros(const ir::TensorType& matrix, int64_t moved) {
  constexpr int64_t kTimesDense = 8;
  return (matrix.ElementCount() - 1) / kTimesDense - matrix.shape[0] - moved;
}

Expr Transposed(const Expr& matrix) {
  const std::vector<int64_t> axes = {1, 0};
  if (ir::IsCall(matrix, "transpose") && ops::IntsAttr(matrix->attrs, "axes", axes) == axes) {
    return matrix->args[0];
  }
  return ir::Call("transpose", {matrix}, {{"axes", axes}});
}

// rows (m, k) by columns (n, k): what nn.dense multiplies, where `sparse` is one of the two.
Expr Multiply(const ops::Csr& sparse, const Expr& other) {
  return ir::Call("nn.sparse_dense",
                  {sparse.data, sparse.indices, sparse.indptr, Transposed(other)});
}

bool HasUsualType(const ir::ExprNode& dense) {
  const DataType operand = dense.args[0]->type->tensor.dtype;
  return dense.type->tensor.dtype == (IsFloat(operand) ? operand : ops::AccumulatorType(operand));
}

Expr Sparsified(const Expr& dense) {
  const Expr& data = dense->args[0];
  const Expr& weight = dense->args[1];
  if (!HasUsualType(*dense) || IsConstant(data) == IsConstant(weight)) return dense;
  if (IsConstant(data)) {
    const auto csr = ops::CsrOf(*data, MostNonzeros(data->type->tensor, 0));
    return csr ? Multiply(*csr, weight) : dense;
  }
  // Data and result are stored the other way round.
  const ir::TensorType& type = weight->type->tensor;
  const auto csr = ops::CsrOf(*weight, MostNonzeros(type, type.shape[0] + type.shape[1]));
  return csr ? Transposed(Multiply(*csr, data)) : dense;
}

}  // namespace

absl::StatusOr<ir::Module> SparsifyConstants(const ir::Module& module, const PassContext&) {
  return MapFunctions(module, [](const Expr& function) {
    return ir::RewriteOutside(function, [](const Expr& node) -> Expr {
      return ir::IsCall(node, "nn.dense") ? Sparsified(node) : node;
    });
  });
}

}  // namespace hone::passes
