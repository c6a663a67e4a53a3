#include "compiler/passes/rewriting.h"

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/literal.h"
#include "compiler/ir/node_map.h"
#include "compiler/ops/call_type.h"

namespace hone::passes {

using ir::Expr;
using ir::ExprKind;

ir::Module MapFunctions(const ir::Module& module,
                        const std::function<Expr(const Expr& function)>& rewrite) {
  ir::Module result;
  for (const auto& [name, function] : module.functions) {
    result.functions[name] = rewrite(function);
  }
  return result;
}

Expr RewriteCounted(
    const Expr& function,
    const std::function<Expr(const Expr& node, const UsedOnce& used_once)>& rewrite) {
  const std::vector<Expr> order = ir::PostOrderOutside(function);
  ir::NodeMap<int> uses;
  for (const Expr& node : order) {
    for (const Expr& arg : node->args) ++uses[arg.get()];
    if (node->callee) ++uses[node->callee.get()];
  }
  ir::NodeMap<int> uses_now;  // of what stands for them
  const UsedOnce used_once = [&](const Expr& node) {
    const auto it = uses_now.find(node.get());
    return it == uses_now.end() || it->second <= 1;
  };
  ir::NodeMap<Expr> done;
  done.reserve(order.size());
  for (const Expr& node : order) {
    if (node->kind == ExprKind::kFunction && node != function) {
      done[node.get()] = node;
      continue;
    }
    Expr result = rewrite(ir::WithOperandsOf(node, done), used_once);
    uses_now[result.get()] += uses[node.get()];
    done[node.get()] = std::move(result);
  }
  return done.at(function.get());
}

bool IsConstant(const Expr& e) { return e->kind == ExprKind::kConstant; }

bool IsConstantTree(const Expr& e) {
  if (e->kind != ExprKind::kTuple) return IsConstant(e);
  return std::all_of(e->args.begin(), e->args.end(), IsConstant);
}

bool IsPrimitive(const Expr& function) {
  return function->kind == ExprKind::kFunction &&
         ir::GetAttr<bool>(function->attrs, "primitive", false);
}

bool IsFloat32(const Expr& e) { return e->type->IsTensor() && DtypeOf(e) == DataType::kFloat32; }

bool MovesOrChooses(const Expr& e) {
  static const auto* const ops = new std::set<std::string, std::less<>>{
      "nn.batch_flatten", "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "reshape",
      "transpose",        "expand_dims",   "squeeze",       "strided_slice"};
  return e->kind == ir::ExprKind::kCall && !e->callee && ops->contains(e->name) &&
         e->args.size() == 1;
}

Expr MakeTyped(const std::string& op, std::vector<Expr> args, ir::Attrs attrs) {
  if (std::find(args.begin(), args.end(), nullptr) != args.end()) return nullptr;
  absl::StatusOr<Expr> call = ops::TypedCall(op, std::move(args), std::move(attrs));
  return call.ok() ? *std::move(call) : nullptr;
}

Expr Reshape(const Expr& e, std::vector<int64_t> shape) {
  return MakeTyped("reshape", {e}, {{"newshape", std::move(shape)}});
}

Expr Cast(const Expr& e, DataType dtype) {
  if (e && e->type->IsTensor() && e->type->tensor.dtype == dtype) return e;
  return MakeTyped("cast", {e}, {{"dtype", dtype}});
}

Expr Scalar(double value, DataType dtype) {
  uint64_t bits = 0;
  switch (dtype) {
    case DataType::kFloat32:
      bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      break;
    case DataType::kFloat64:
      bits = std::bit_cast<uint64_t>(value);
      break;
    case DataType::kFloat16:
      bits = ir::FloatToHalf(static_cast<float>(value));
      break;
    case DataType::kBFloat16:
      bits = ir::FloatToBFloat16(static_cast<float>(value));
      break;
    default:
      bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  return ir::ConstantFromBytes({{}, dtype}, &bits);
}

Expr AlongAxis(const Expr& vector, int64_t extent, int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  if (axis == rank - 1) return vector;
  std::vector<int64_t> shape(static_cast<size_t>(rank - axis), 1);
  shape[0] = extent;
  return ir::Call("reshape", {vector}, {{"newshape", shape}});
}

ir::NodeSet ResultsOf(const Expr& body) {
  ir::NodeSet results = {body.get()};
  if (body->kind != ir::ExprKind::kTuple) return results;
  for (const Expr& field : body->args) results.merge(ResultsOf(field));
  return results;
}

std::vector<ir::TensorType> TensorsOf(const ir::Type& type) {
  if (!type.is_tuple) return {type.tensor};
  std::vector<ir::TensorType> all;
  for (const ir::Type& field : type.fields) {
    for (ir::TensorType& tensor : TensorsOf(field)) all.push_back(std::move(tensor));
  }
  return all;
}

}  // namespace hone::passes
