#include "compiler/loop/expr.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "compiler/loop/scalar.h"

namespace hone::loop {
namespace {

constexpr std::array<std::string_view, 29> kUnaryNames = {
    "neg",  "not",     "abs",   "sqrt",  "rsqrt", "exp",   "expm1", "log",   "log1p", "tanh",
    "erf",  "sigmoid", "floor", "ceil",  "round", "sin",   "cos",   "tan",   "asin",  "acos",
    "atan", "sinh",    "cosh",  "asinh", "acosh", "atanh", "isnan", "isinf", "sign"};
constexpr std::array<std::string_view, 23> kBinaryNames = {
    "+", "-",  "*", "/",  "floordiv", "floormod", "min", "max", "pow", "mod",    "==",   "!=",
    "<", "<=", ">", ">=", "and",      "or",       "xor", "shl", "shr", "bitand", "bitor"};

std::shared_ptr<ExprNode> NewNode(ExprKind kind, DataType dtype) {
  auto node = std::make_shared<ExprNode>();
  node->kind = kind;
  node->dtype = dtype;
  return node;
}

// Once all is in its place.
Expr Finish(std::shared_ptr<ExprNode> node) {
  if (node->kind == ExprKind::kVar) node->uses = UseBit(node.get());
  if (node->buffer != nullptr) node->uses |= UseBit(node->buffer.get());
  for (const Expr& operand : node->operands) node->uses |= operand->uses;
  return Expr(std::move(node));
}

bool IsConst(const Expr& e) { return e->kind == ExprKind::kInt || e->kind == ExprKind::kFloat; }

Expr FoldBinary(BinaryOp op, const Expr& a, const Expr& b) {
  const DataType result = GivesBool(op) ? DataType::kBool : a->dtype;
  if (a->kind == ExprKind::kFloat) {
    if (GivesBool(op)) return BoolConst(CompareFloat(op, a->float_value, b->float_value));
    return FloatConst(EvalFloat(op, a->float_value, b->float_value, result), result);
  }
  return IntConst(EvalInt(op, a->int_value, b->int_value, a->dtype), result);
}

bool Commutes(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kMul || op == BinaryOp::kMin ||
         op == BinaryOp::kMax || op == BinaryOp::kAnd || op == BinaryOp::kOr ||
         op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr;
}

// Folds operators of integers and bools whose right side is a constant, by their neutral and
// absorbing elements; null where none applies.
Expr FoldRightConstant(BinaryOp op, const Expr& a, const Expr& b) {
  const int64_t value = b->int_value;
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kXor:
    case BinaryOp::kBitOr:
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
      return value == 0 ? a : Expr();
    case BinaryOp::kMul:
      if (value == 0) return b;
      return value == 1 ? a : Expr();
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      return value == 1 ? a : Expr();
    case BinaryOp::kFloorMod:
    case BinaryOp::kMod:
      return value == 1 ? IntConst(0, a->dtype) : Expr();
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
      if (a->dtype != DataType::kBool) return Expr();
      return (value != 0) == (op == BinaryOp::kAnd) ? a : b;
    default:
      return Expr();
  }
}

// (x + 1) + 2 is x + 3: keeps chains of index arithmetic short. Integers only.
Expr MergeConstants(BinaryOp op, const Expr& a, const Expr& b) {
  if (op != BinaryOp::kAdd && op != BinaryOp::kMul) return Expr();
  if (a->kind != ExprKind::kBinary || a->binary_op != op) return Expr();
  const Expr& inner = a->operands[1];
  if (inner->kind != ExprKind::kInt) return Expr();
  return Binary(op, a->operands[0], FoldBinary(op, inner, b));
}

}  // namespace

Expr::Expr(int64_t value) : Expr(IntConst(value)) {}

Buffer MakeBuffer(std::string name, DataType dtype, std::vector<int64_t> shape, Role role) {
  auto buffer = std::make_shared<BufferNode>();
  buffer->name = std::move(name);
  buffer->dtype = dtype;
  buffer->layout = Layout::RowMajor(static_cast<int>(shape.size()));
  buffer->shape = std::move(shape);
  buffer->role = role;
  return buffer;
}

namespace {

Expr MakeInt(int64_t value, DataType dtype) {
  auto node = NewNode(ExprKind::kInt, dtype);
  node->int_value = WrapToInt(value, dtype);
  return Finish(std::move(node));
}

// Most constants are small indices: one node each is made once for all.
constexpr int64_t kSmallInts = 256;
std::vector<Expr> MakeSmallInts() {
  std::vector<Expr> ints;
  for (int64_t value = -1; value < kSmallInts; ++value) {
    ints.push_back(MakeInt(value, DataType::kInt64));
  }
  return ints;
}

}  // namespace

Expr IntConst(int64_t value, DataType dtype) {
  assert(!IsFloat(dtype));
  if (dtype == DataType::kInt64 && value >= -1 && value < kSmallInts) {
    static const std::vector<Expr> ints = MakeSmallInts();
    return ints[static_cast<size_t>(value + 1)];
  }
  return MakeInt(value, dtype);
}

Expr FloatConst(double value, DataType dtype) {
  assert(IsFloat(dtype));
  auto node = NewNode(ExprKind::kFloat, dtype);
  node->float_value =  // one NaN only, so that equal constants have equal bits
      std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : RoundToFloat(value, dtype);
  return Finish(std::move(node));
}

Expr BoolConst(bool value) { return IntConst(value ? 1 : 0, DataType::kBool); }

Expr Const(double value, DataType dtype) {
  return IsFloat(dtype) ? FloatConst(value, dtype) : IntConst(FloatToInt(value, dtype), dtype);
}

Expr Var(std::string name, DataType dtype) {
  auto node = NewNode(ExprKind::kVar, dtype);
  node->name = std::move(name);
  return Finish(std::move(node));
}

Expr Load(Buffer buffer, std::vector<Expr> indices) {
  assert(indices.size() == buffer->shape.size());
  auto node = NewNode(ExprKind::kLoad, buffer->dtype);
  node->buffer = std::move(buffer);
  node->operands = std::move(indices);
  return Finish(std::move(node));
}

Expr Unary(UnaryOp op, Expr a) {
  const DataType dtype = GivesBool(op) ? DataType::kBool : a->dtype;
  if (a->kind == ExprKind::kInt) return IntConst(EvalInt(op, a->int_value, dtype), dtype);
  if (a->kind == ExprKind::kFloat) {
    if (GivesBool(op)) return BoolConst(EvalFloat(op, a->float_value, a->dtype) != 0);
    return FloatConst(EvalFloat(op, a->float_value, dtype), dtype);
  }
  if (op == UnaryOp::kNot && a->kind == ExprKind::kUnary && a->unary_op == UnaryOp::kNot) {
    return a->operands[0];
  }
  auto node = NewNode(ExprKind::kUnary, dtype);
  node->unary_op = op;
  node->operands = {std::move(a)};
  return Finish(std::move(node));
}

Expr Binary(BinaryOp op, Expr a, Expr b) {
  assert(a->dtype == b->dtype);
  if (IsConst(a) && IsConst(b)) {
    return FoldBinary(op, a, b);
  }
  if (!IsFloat(a->dtype)) {
    if (op == BinaryOp::kSub && b->kind == ExprKind::kInt) {
      op = BinaryOp::kAdd;
      b = Unary(UnaryOp::kNeg, b);
    }
    if (Commutes(op) && a->kind == ExprKind::kInt && b->kind != ExprKind::kInt) std::swap(a, b);
    if (b->kind == ExprKind::kInt) {
      if (Expr folded = FoldRightConstant(op, a, b)) return folded;
      if (Expr merged = MergeConstants(op, a, b)) return merged;
    }
    const bool zero = IsInt(a, 0) && !IsInt(b, 0);
    if (zero && (op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod)) return a;
    if (a.SameAs(b)) {
      if (op == BinaryOp::kSub) return IntConst(0, a->dtype);
      if (op == BinaryOp::kMin || op == BinaryOp::kMax) return a;
    }
  }
  auto node = NewNode(ExprKind::kBinary, GivesBool(op) ? DataType::kBool : a->dtype);
  node->binary_op = op;
  node->operands.reserve(2);  // a list in braces would be copied
  node->operands.push_back(std::move(a));
  node->operands.push_back(std::move(b));
  return Finish(std::move(node));
}

Expr Select(Expr condition, Expr then, Expr otherwise) {
  assert(condition->dtype == DataType::kBool && then->dtype == otherwise->dtype);
  if (condition->kind == ExprKind::kInt) return condition->int_value != 0 ? then : otherwise;
  if (then.SameAs(otherwise)) return then;
  auto node = NewNode(ExprKind::kSelect, then->dtype);
  node->operands = {std::move(condition), std::move(then), std::move(otherwise)};
  return Finish(std::move(node));
}

Expr Cast(DataType dtype, Expr a) {
  if (a->dtype == dtype) return a;
  if (a->kind == ExprKind::kInt) {
    if (IsFloat(dtype)) return FloatConst(IntToFloat(a->int_value, a->dtype, dtype), dtype);
    return IntConst(a->int_value, dtype);
  }
  if (a->kind == ExprKind::kFloat) {
    if (IsFloat(dtype)) return FloatConst(a->float_value, dtype);
    return IntConst(FloatToInt(a->float_value, dtype), dtype);
  }
  auto node = NewNode(ExprKind::kCast, dtype);
  node->operands = {std::move(a)};
  return Finish(std::move(node));
}

Expr operator+(Expr a, Expr b) { return Binary(BinaryOp::kAdd, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return Binary(BinaryOp::kSub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return Binary(BinaryOp::kMul, std::move(a), std::move(b)); }
Expr FloorDiv(Expr a, Expr b) { return Binary(BinaryOp::kFloorDiv, std::move(a), std::move(b)); }
Expr FloorMod(Expr a, Expr b) { return Binary(BinaryOp::kFloorMod, std::move(a), std::move(b)); }
Expr Min(Expr a, Expr b) { return Binary(BinaryOp::kMin, std::move(a), std::move(b)); }
Expr Max(Expr a, Expr b) { return Binary(BinaryOp::kMax, std::move(a), std::move(b)); }
Expr And(Expr a, Expr b) { return Binary(BinaryOp::kAnd, std::move(a), std::move(b)); }
Expr Or(Expr a, Expr b) { return Binary(BinaryOp::kOr, std::move(a), std::move(b)); }
Expr Lt(Expr a, Expr b) { return Binary(BinaryOp::kLt, std::move(a), std::move(b)); }
Expr Le(Expr a, Expr b) { return Binary(BinaryOp::kLe, std::move(a), std::move(b)); }
Expr Ge(Expr a, Expr b) { return Binary(BinaryOp::kGe, std::move(a), std::move(b)); }
Expr Eq(Expr a, Expr b) { return Binary(BinaryOp::kEq, std::move(a), std::move(b)); }

bool IsConstInt(const Expr& e, int64_t* value) {
  if (e->kind != ExprKind::kInt) return false;
  if (value != nullptr) *value = e->int_value;
  return true;
}

bool IsInt(const Expr& e, int64_t value) {
  return e->kind == ExprKind::kInt && e->int_value == value;
}

bool IsZero(const Expr& e) {
  return IsInt(e, 0) ||
         (e->kind == ExprKind::kFloat && e->float_value == 0 && !std::signbit(e->float_value));
}

bool IsBinary(const Expr& e, BinaryOp op) {
  return e->kind == ExprKind::kBinary && e->binary_op == op;
}

bool StructuralEqual(const Expr& a, const Expr& b) {
  if (a.SameAs(b)) return true;
  if (!a || !b) return false;
  if (a->kind != b->kind || a->dtype != b->dtype) return false;
  if (a->operands.size() != b->operands.size() || a->buffer != b->buffer) return false;
  switch (a->kind) {
    case ExprKind::kVar:
      return false;
    case ExprKind::kInt:
      return a->int_value == b->int_value;
    case ExprKind::kFloat:  // by bits: tells the zeros apart, and a NaN equals itself
      return std::bit_cast<uint64_t>(a->float_value) == std::bit_cast<uint64_t>(b->float_value);
    case ExprKind::kUnary:
      if (a->unary_op != b->unary_op) return false;
      break;
    case ExprKind::kBinary:
      if (a->binary_op != b->binary_op) return false;
      break;
    default:
      break;
  }
  for (size_t i = 0; i < a->operands.size(); ++i) {
    if (!StructuralEqual(a->operands[i], b->operands[i])) return false;
  }
  return true;
}

std::string_view Name(UnaryOp op) { return kUnaryNames[static_cast<size_t>(op)]; }
std::string_view Name(BinaryOp op) { return kBinaryNames[static_cast<size_t>(op)]; }

}  // namespace hone::loop
