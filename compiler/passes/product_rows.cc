#include "compiler/passes/product_rows.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ir/node_map.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/op.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Shape = std::vector<int64_t>;

// The attributes with which an operator that works element by element does so on rows; nullopt for
// other operators.
std::optional<ir::Attrs> AttrsOnRows(const Expr& node) {
  ir::Attrs attrs = node->attrs;
  if (ir::IsCall(node, "nn.bias_add")) {
    const auto rank = static_cast<int64_t>(ShapeOf(node).size());
    const int64_t axis = ops::AxisFromFront(ops::IntAttr(attrs, "axis", 1), ShapeOf(node).size());
    attrs["axis"] = int64_t{1};
    if (axis == rank - 1) return attrs;
    return std::nullopt;
  }
  const ops::Op* op = ops::FindOp(node->name);
  if (op == nullptr || op->kind > ops::FuseKind::kBroadcast || attrs.contains("axis")) {
    return std::nullopt;
  }
  return attrs;
}

// Not where elements are moved, which whoever reads them does for itself: the product's kernel
// would have them written first.
bool IsReadAsItLies(const Expr& e) {
  if (e->kind != ir::ExprKind::kCall || e->callee || ir::IsCall(e, "reshape")) return true;
  const ops::Op* op = ops::FindOp(e->name);
  return op == nullptr || op->kind != ops::FuseKind::kInjective;
}

class Rows {
 public:
  Expr Apply(const Expr& function) {
    return ir::RewriteOutside(function, [this](const Expr& node) {
      const Expr on_rows = OnRows(node);
      return on_rows ? on_rows : node;
    });
  }

 private:
  // What `e`, of several axes, is a reshape of, where that are rows of a product; else null.
  Expr RowsOf(const Expr& e) const {
    if (!ir::IsCall(e, "reshape") || ShapeOf(e).size() < 3) return nullptr;
    const Expr& rows = e->args[0];
    const bool known = ir::IsCall(rows, "nn.dense") || made_.contains(rows.get());
    const bool fits = known && !rows->type->is_tuple && ShapeOf(rows).size() == 2 &&
                      ShapeOf(rows)[1] == ShapeOf(e).back();
    return fits ? rows : nullptr;
  }

  // An operand of an operator whose result has this shape, for its rows; null where it is none.
  Expr OperandOnRows(const Expr& arg, const Shape& shape, const Shape& rows_shape) const {
    if (arg->type->is_tuple) return nullptr;
    const Shape& own = ShapeOf(arg);
    if (own == shape) {
      const Expr rows = RowsOf(arg);
      if (rows && ShapeOf(rows) == rows_shape) return rows;
      return IsReadAsItLies(arg) ? Reshape(arg, rows_shape) : nullptr;
    }
    if (own.size() <= 1) return arg;
    const bool one_row =
        std::all_of(own.begin(), own.end() - 1, [](int64_t extent) { return extent == 1; });
    return one_row ? Reshape(arg, {own.back()}) : nullptr;
  }

  Expr OnRows(const Expr& node) {
    if (node->kind != ir::ExprKind::kCall || node->callee || node->type->is_tuple) return nullptr;
    const Shape& shape = ShapeOf(node);
    Expr rows;
    for (const Expr& arg : node->args) {
      if (!rows && !arg->type->is_tuple && ShapeOf(arg) == shape) rows = RowsOf(arg);
    }
    if (!rows) return nullptr;
    const std::optional<ir::Attrs> attrs = AttrsOnRows(node);
    if (!attrs) return nullptr;
    std::vector<Expr> args;
    for (const Expr& arg : node->args) args.push_back(OperandOnRows(arg, shape, ShapeOf(rows)));
    const Expr result = MakeTyped(node->name, std::move(args), *attrs);
    if (!result || ShapeOf(result) != ShapeOf(rows)) return nullptr;
    made_.insert(result.get());
    kept_.push_back(result);
    return Reshape(result, shape);
  }

  ir::NodeSet made_;        // that compute on rows
  std::vector<Expr> kept_;  // so that no other node takes their place
};

}  // namespace

Expr ComputeInProductRows(const Expr& function) { return Rows().Apply(function); }

}  // namespace hone::passes
