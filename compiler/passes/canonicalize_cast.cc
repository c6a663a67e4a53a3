#include "compiler/passes/canonicalize_cast.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/node_map.h"
#include "compiler/ops/op.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// The digits and exponents of a type, in binary.
struct Digits {
  int digits = 0;        // significant ones, without the sign
  int max_exponent = 0;  // of floats
  bool is_signed = true;
};

Digits DigitsOf(DataType dtype) {
  switch (dtype) {
    case DataType::kBool:
      return {1, 0, false};
    case DataType::kUInt8:
      return {8, 0, false};
    case DataType::kUInt16:
      return {16, 0, false};
    case DataType::kUInt32:
      return {32, 0, false};
    case DataType::kUInt64:
      return {64, 0, false};
    case DataType::kInt8:
      return {7};
    case DataType::kInt16:
      return {15};
    case DataType::kInt32:
      return {31};
    case DataType::kInt64:
      return {63};
    case DataType::kFloat16:
      return {11, 15};
    case DataType::kBFloat16:
      return {8, 127};
    case DataType::kFloat32:
      return {24, 127};
    case DataType::kFloat64:
      return {53, 1023};
  }
  return {};
}

// Whether `wide` has every value of `narrow`.
bool Holds(DataType wide, DataType narrow) {
  if (wide == narrow) return true;
  if (wide == DataType::kBool || (IsFloat(narrow) && !IsFloat(wide))) return false;
  const Digits w = DigitsOf(wide);
  const Digits n = DigitsOf(narrow);
  if (n.is_signed && !w.is_signed) return false;
  return w.digits >= n.digits && w.max_exponent >= n.max_exponent;
}

bool IsIntegral(DataType dtype) { return !IsFloat(dtype); }

// Whether from -> middle -> to is from -> to, whatever the value.
bool Collapses(DataType from, DataType middle, DataType to) {
  const bool integers = IsInteger(from) && IsInteger(middle) && IsInteger(to);
  if (integers && SizeBytes(to) <= SizeBytes(middle)) return true;  // both wrap around
  if (!Holds(middle, from)) return false;
  if (!IsIntegral(from) || IsIntegral(middle)) return true;
  // Integers as floats: those saturate on the way to integers, and round but once on the way to the
  // short ones.
  return Holds(to, from) || to == DataType::kFloat32 || to == DataType::kBool;
}

bool IsWidening(const Expr& e) {
  if (!ir::IsCall(e, "cast") || !e->type || !e->args[0]->type) return false;
  return SizeBytes(DtypeOf(e)) > SizeBytes(DtypeOf(e->args[0]));
}

// An operator of one operand that gives its elements, some or all, elsewhere.
bool OnlyMoves(const Expr& e) {
  static constexpr const char* kMovers[] = {"reshape", "expand_dims",      "squeeze",
                                            "copy",    "nn.batch_flatten", "transpose",
                                            "tile",    "strided_slice",    "broadcast_to"};
  for (const char* const name : kMovers) {
    if (ir::IsCall(e, name)) return true;
  }
  return false;
}

int64_t ElementsOf(const Expr& e) { return e->type->tensor.ElementCount(); }

Expr WithDtype(const Expr& call, const Expr& operand) {
  return ir::WithType(ir::WithOperands(call, nullptr, {operand}),
                      {.tensor = {call->type->tensor.shape, DtypeOf(operand)}});
}

// `cast` with fewer casts before it, and narrowed as early as it shrinks what is moved.
Expr CanonicalCast(const Expr& cast, const UsedOnce& used_once) {
  const DataType to = DtypeOf(cast);
  Expr from = cast->args[0];
  while (ir::IsCall(from, "cast") && Collapses(DtypeOf(from->args[0]), DtypeOf(from), to)) {
    from = from->args[0];
  }
  const bool moves = OnlyMoves(from) && used_once(from) && !IsConstant(from->args[0]);
  if (moves && SizeBytes(to) < SizeBytes(DtypeOf(from)) &&
      ElementsOf(from) >= ElementsOf(from->args[0])) {
    return WithDtype(from, CanonicalCast(Cast(from->args[0], to), used_once));
  }
  return from == cast->args[0] ? cast : Cast(from, to);
}

Expr Visit(const Expr& node, const UsedOnce& used_once) {
  if (ir::IsCall(node, "cast")) {
    return DtypeOf(node) == DtypeOf(node->args[0]) ? node->args[0] : CanonicalCast(node, used_once);
  }
  if (!OnlyMoves(node) || !IsWidening(node->args[0]) || !used_once(node->args[0])) return node;
  if (ElementsOf(node) > ElementsOf(node->args[0])) return node;
  return Cast(WithDtype(node, node->args[0]->args[0]), DtypeOf(node));
}

// Whether a cast before it can be part of its kernel.
bool TakesCasts(const Expr& call) {
  if (call->kind != ExprKind::kCall || call->callee) return false;
  const ops::Op* op = ops::FindOp(call->name);
  return op != nullptr && op->kind <= ops::FuseKind::kReduction;
}

// A widening that several operators read becomes one for each that can have it in its kernel.
Expr WidenAtReaders(const Expr& function) {
  return RewriteCounted(function, [](const Expr& node, const UsedOnce& used_once) -> Expr {
    if (!TakesCasts(node)) return node;
    std::vector<Expr> args = node->args;
    ir::NodeMap<Expr> own;  // x + x reads one
    for (Expr& arg : args) {
      if (!IsWidening(arg) || used_once(arg) || IsConstant(arg->args[0])) continue;
      Expr& copy = own[arg.get()];
      if (!copy) copy = Cast(arg->args[0], DtypeOf(arg));
      arg = copy;
    }
    return ir::WithOperands(node, nullptr, std::move(args));
  });
}

}  // namespace

absl::StatusOr<ir::Module> CanonicalizeCast(const ir::Module& module, const PassContext&) {
  return MapFunctions(
      module, [](const Expr& function) { return WidenAtReaders(RewriteCounted(function, Visit)); });
}

}  // namespace hone::passes
