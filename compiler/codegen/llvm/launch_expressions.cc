// Expressions of a launch.
#include <fmt/format.h>

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "compiler/codegen/llvm/arithmetic.h"
#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/codegen/llvm/math.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/scalar.h"
#include "llvm/IR/Intrinsics.h"

namespace hone::codegen {
namespace {

using llvm::Value;
using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;
using loop::Interval;

bool IsDivision(BinaryOp op) {
  return op == BinaryOp::kDiv || op == BinaryOp::kMod || op == BinaryOp::kFloorDiv ||
         op == BinaryOp::kFloorMod;
}
bool IsIndexOperator(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kSub || op == BinaryOp::kMul ||
         op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
}
bool IsInt64(const Expr& e) { return e->dtype == DataType::kInt64; }

}  // namespace

// The value of an expression that was emitted on every way here; else null.
llvm::Value* LaunchEmitter::KnownValue(const Expr& e) const {
  for (auto scope = values_.rbegin(); scope != values_.rend(); ++scope) {
    const auto found = scope->find(e.get());
    if (found != scope->end()) return found->second;
  }
  return nullptr;
}

llvm::Value* LaunchEmitter::EmitExpr(const Expr& e) {
  if (e->kind == ExprKind::kInt || e->kind == ExprKind::kFloat) return EmitNode(e);
  Value* value = KnownValue(e);
  if (value) return value;
  if (IsInt64(e) && e->kind == ExprKind::kBinary && IsIndexOperator(e->binary_op)) {
    value = index_.Emit(*IndexOf(e));
  } else {
    value = EmitNode(e);
  }
  values_.back()[e.get()] = value;
  return value;
}

// Values are known by the addresses of their expressions: while they are, one that is no part of
// the nest must not make way for another.
llvm::Value* LaunchEmitter::EmitMade(const Expr& e) {
  made_.push_back(e);
  return EmitExpr(e);
}

llvm::Value* LaunchEmitter::EmitNode(const Expr& e) {
  llvm::Type* type = RegisterType(context_, e->dtype);
  switch (e->kind) {
    case ExprKind::kInt:
      return llvm::ConstantInt::get(type, static_cast<uint64_t>(e->int_value), true);
    case ExprKind::kFloat:
      return llvm::ConstantFP::get(type, e->float_value);
    case ExprKind::kVar: {
      const auto found = vars_.find(e.get());
      if (found == vars_.end()) {
        Fail(fmt::format("nest {}: no loop binds the variable {}", nest_.name, e->name));
        return llvm::Constant::getNullValue(type);
      }
      Value* value = index_.Emit(found->second);
      return b_.CreateIntCast(value, WithElements(value->getType(), type), /*isSigned=*/true);
    }
    case ExprKind::kLoad:
      return EmitLoad(e);
    case ExprKind::kUnary:
      return EmitUnary(b_, e->unary_op, EmitExpr(e->operands[0]), e->operands[0]->dtype, traits_);
    case ExprKind::kBinary:
      return EmitBinaryExpr(e);
    case ExprKind::kSelect:
      return EmitSelect(e);
    case ExprKind::kCast:
      return EmitCast(b_, EmitExpr(e->operands[0]), e->operands[0]->dtype, e->dtype, traits_);
  }
  return nullptr;
}

// Where multiply-adds take one element for all lanes, LLVM would still rather load and copy it to
// them all in one instruction that also steps the address, if the element behind it is read too
// (LD1R): that takes the multiplications' units, and registers until it spills. It does not see a
// load through a freeze.
llvm::Value* LaunchEmitter::EmitFactor(const Expr& e) {
  Value* value = EmitExpr(e);
  const bool is_element =
      vector_.lanes > 1 && LanesOf(value) == 1 && llvm::isa<llvm::LoadInst>(value);
  return traits_.multiplies_by_element && is_element ? b_.CreateFreeze(value) : value;
}

// a * b + c and its kin in one rounding; null where `e` is none.
llvm::Value* LaunchEmitter::EmitContracted(const Expr& e) {
  if (e->dtype != DataType::kFloat32 && e->dtype != DataType::kFloat64) return nullptr;
  const bool is_sub = e->binary_op == BinaryOp::kSub;
  if (!is_sub && e->binary_op != BinaryOp::kAdd) return nullptr;
  const Expr& x = e->operands[0];
  const Expr& y = e->operands[1];
  if (loop::IsBinary(y, BinaryOp::kMul)) {
    Value* sum = EmitExpr(x);
    Value* a = EmitFactor(y->operands[0]);
    Value* b = EmitFactor(y->operands[1]);
    return EmitMulAdd(b_, is_sub ? b_.CreateFNeg(a) : a, b, sum);
  }
  if (loop::IsBinary(x, BinaryOp::kMul)) {
    Value* a = EmitFactor(x->operands[0]);
    Value* b = EmitFactor(x->operands[1]);
    Value* sum = EmitExpr(y);
    return EmitMulAdd(b_, a, b, is_sub ? b_.CreateFNeg(sum) : sum);
  }
  return nullptr;
}

llvm::Value* LaunchEmitter::EmitBinaryExpr(const Expr& e) {
  const Expr& x = e->operands[0];
  const Expr& y = e->operands[1];
  if (Value* value = EmitContracted(e)) return value;
  if (IsInt64(x) && IsComparison(e->binary_op)) return EmitComparison(e);
  // What must not be evaluated where the first operand decides is put behind it.
  if (e->dtype == DataType::kBool && x->dtype == DataType::kBool && MayFault(y)) {
    if (e->binary_op == BinaryOp::kAnd) {
      return EmitMade(loop::Select(x, y, loop::BoolConst(false)));
    }
    if (e->binary_op == BinaryOp::kOr) return EmitMade(loop::Select(x, loop::BoolConst(true), y));
  }
  Value* a = EmitExpr(x);
  Value* b = EmitExpr(y);
  bool non_negative = false;
  if (IsInt64(e) && IsDivision(e->binary_op)) {
    const std::optional<Index> i = IndexOf(x);
    const std::optional<Index> j = IndexOf(y);
    non_negative = index_.RangeOf(*i).min >= 0 && index_.RangeOf(*j).min >= 0;
  }
  return EmitBinary(b_, e->binary_op, a, b, x->dtype, traits_, non_negative);
}

// Compares int64. Where one side is the lane number and a uniform bound is on the other, the lanes
// are compared as 32-bit numbers.
llvm::Value* LaunchEmitter::EmitComparison(const Expr& e) {
  const Index x = *IndexOf(e->operands[0]);
  const Index y = *IndexOf(e->operands[1]);
  if (const std::optional<bool> decided = Decide(e)) return b_.getInt1(*decided);
  const Index difference = IndexMath::Sum(x, y, -1);
  const BinaryOp op = e->binary_op;
  const int64_t stride = vector_.lane_atom >= 0 ? difference.CoefficientOf(vector_.lane_atom) : 0;
  const bool less = op == BinaryOp::kLt || op == BinaryOp::kLe;
  const Index rest = WithoutLanes(difference, stride);
  if (stride == 1 && (less || op == BinaryOp::kGe || op == BinaryOp::kGt) &&
      !index_.IsVector(rest) && !index_.MayWrap(x) && !index_.MayWrap(y) &&
      !index_.MayWrap(difference)) {
    // lane + rest < 0 is lane < -rest.
    const bool or_equal = op == BinaryOp::kLe || op == BinaryOp::kGt;
    const Index bound = IndexMath::Sum(IndexMath::Constant(or_equal ? 1 : 0), rest, -1);
    Value* limit = nullptr;
    if (bound.IsConstant()) {  // the builder does not fold the intrinsics
      limit = b_.getInt64(std::clamp<int64_t>(bound.constant, 0, vector_.lanes));
    } else {
      Value* lanes = b_.getInt64(vector_.lanes);
      limit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index_.Emit(bound), lanes);
      limit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, limit, b_.getInt64(0));
    }
    limit = Splat(b_, b_.CreateTrunc(limit, b_.getInt32Ty()), vector_.lanes);
    std::vector<uint32_t> numbers(vector_.lanes);
    for (int i = 0; i < vector_.lanes; ++i) numbers[i] = i;
    Value* lane = llvm::ConstantDataVector::get(context_, numbers);
    return less ? b_.CreateICmpULT(lane, limit) : b_.CreateICmpUGE(lane, limit);
  }
  return EmitBinary(b_, op, index_.Emit(x), index_.Emit(y), DataType::kInt64, traits_);
}

std::optional<bool> LaunchEmitter::Decide(const Expr& e) {
  if (e->kind == ExprKind::kInt) return e->int_value != 0;
  if (e->kind == ExprKind::kUnary && e->unary_op == loop::UnaryOp::kNot) {
    const std::optional<bool> inner = Decide(e->operands[0]);
    return inner ? std::optional<bool>(!*inner) : std::nullopt;
  }
  if (e->kind != ExprKind::kBinary) return std::nullopt;
  const BinaryOp op = e->binary_op;
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr) {
    const bool absorbing = op == BinaryOp::kOr;
    const std::optional<bool> x = Decide(e->operands[0]);
    if (x && *x == absorbing) return absorbing;
    const std::optional<bool> y = Decide(e->operands[1]);
    if (y && *y == absorbing) return absorbing;
    return x && y ? std::optional<bool>(!absorbing) : std::nullopt;
  }
  if (!IsComparison(op) || !IsInt64(e->operands[0])) return std::nullopt;
  const std::optional<Index> x = IndexOf(e->operands[0], /*speculative=*/true);
  const std::optional<Index> y = IndexOf(e->operands[1], /*speculative=*/true);
  if (!x || !y) return std::nullopt;
  const Interval d = index_.RangeOfDifference(*x, *y);
  const auto when = [](bool yes, bool no) {
    return yes ? std::optional<bool>(true) : no ? std::optional<bool>(false) : std::nullopt;
  };
  switch (op) {
    case BinaryOp::kLt:
      return when(d.max < 0, d.min >= 0);
    case BinaryOp::kLe:
      return when(d.max <= 0, d.min > 0);
    case BinaryOp::kGt:
      return when(d.min > 0, d.max <= 0);
    case BinaryOp::kGe:
      return when(d.min >= 0, d.max < 0);
    case BinaryOp::kEq:
      return when(d.min == 0 && d.max == 0, d.min > 0 || d.max < 0);
    default:  // kNe
      return when(d.min > 0 || d.max < 0, d.min == 0 && d.max == 0);
  }
}

bool LaunchEmitter::MayFault(const Expr& root) {
  absl::flat_hash_set<const loop::ExprNode*> seen;
  const std::function<bool(const Expr&)> visit = [&](const Expr& e) -> bool {
    if (!seen.insert(e.get()).second) return false;
    if (e->kind == ExprKind::kLoad) {
      const Storage* storage = FindStorage(e->buffer);
      if (!storage) return true;
      const std::optional<Index> offset =
          OffsetOf(e->buffer, e->operands, *storage, /*speculative=*/true);
      return !offset || !InBounds(*offset, *storage);
    }
    // The branches of a select too: what guards them may be the condition asked about.
    for (const Expr& operand : e->operands) {
      if (visit(operand)) return true;
    }
    return false;
  };
  return visit(root);
}

// select(x < c, 0, exp(x)), where exp has no need of what it does for results below exp(c); null
// where `e` is none.
llvm::Value* LaunchEmitter::EmitExpOrZero(const Expr& e) {
  const Expr& less = e->operands[0];
  const Expr& zero = e->operands[1];
  const Expr& exp = e->operands[2];
  if (!loop::IsBinary(less, BinaryOp::kLt) || exp->kind != ExprKind::kUnary ||
      exp->unary_op != loop::UnaryOp::kExp || !loop::IsZero(zero)) {
    return nullptr;
  }
  const Expr& x = exp->operands[0];
  const Expr& least = less->operands[1];
  if (least->kind != ExprKind::kFloat || !MayBeLeastOfExp(least->float_value, x->dtype) ||
      !loop::StructuralEqual(x, less->operands[0])) {
    return nullptr;
  }
  return EmitExpAbove(b_, EmitExpr(x), least->float_value, traits_);
}

llvm::Value* LaunchEmitter::EmitSelect(const Expr& e) {
  if (Value* value = EmitExpOrZero(e)) return value;
  if (const std::optional<bool> decided = Decide(e->operands[0])) {
    return EmitExpr(e->operands[*decided ? 1 : 2]);
  }
  Value* condition = EmitExpr(e->operands[0]);
  if (MayFault(e->operands[1]) || MayFault(e->operands[2])) {
    return LanesOf(condition) > 1 ? EmitMasked(e, condition) : EmitSelectByBranch(e, condition);
  }
  Value* then = EmitExpr(e->operands[1]);
  Value* otherwise = EmitExpr(e->operands[2]);
  Match(b_, then, otherwise);
  if (LanesOf(condition) > 1) {
    then = Splat(b_, then, LanesOf(condition));
    otherwise = Splat(b_, otherwise, LanesOf(condition));
  }
  return b_.CreateSelect(condition, then, otherwise);
}

llvm::Value* LaunchEmitter::EmitMasked(const Expr& e, Value* condition) {
  Value* outer = vector_.mask;
  const auto branch = [&](const Expr& value, Value* mask) {
    PushScope();
    vector_.mask = outer ? b_.CreateAnd(outer, mask) : mask;
    Value* result = Splat(b_, EmitExpr(value), vector_.lanes);
    PopScope();
    return result;
  };
  Value* then = branch(e->operands[1], condition);
  Value* otherwise = branch(e->operands[2], b_.CreateNot(condition));
  vector_.mask = outer;
  return b_.CreateSelect(condition, then, otherwise);
}

llvm::Value* LaunchEmitter::EmitSelectByBranch(const Expr& e, Value* condition) {
  Value* values[2];
  llvm::BasicBlock* blocks[2] = {NewBlock("then"), NewBlock("else")};
  llvm::BasicBlock* join = NewBlock("join");
  b_.CreateCondBr(condition, blocks[0], blocks[1]);
  for (int i = 0; i < 2; ++i) {
    b_.SetInsertPoint(blocks[i]);
    PushScope();
    values[i] = EmitExpr(e->operands[1 + i]);
    PopScope();
    blocks[i] = b_.GetInsertBlock();
  }
  const int lanes = std::max(LanesOf(values[0]), LanesOf(values[1]));
  for (int i = 0; i < 2; ++i) {
    b_.SetInsertPoint(blocks[i]);
    values[i] = Splat(b_, values[i], lanes);
    b_.CreateBr(join);
  }
  join->moveAfter(&function_->back());
  b_.SetInsertPoint(join);
  llvm::PHINode* value = b_.CreatePHI(values[0]->getType(), 2);
  for (int i = 0; i < 2; ++i) value->addIncoming(values[i], blocks[i]);
  return value;
}

// What goes round, select(last < next, first, next), goes no further than `last`: of what is read
// next, quotients and bounds follow from that.
std::optional<Index> LaunchEmitter::IndexOfSelect(const Expr& e, bool speculative) {
  const Expr& condition = e->operands[0];
  if (const std::optional<bool> decided = Decide(condition)) {
    return IndexOf(e->operands[*decided ? 1 : 2], speculative);
  }
  const bool goes_round = condition->kind == ExprKind::kBinary &&
                          condition->binary_op == BinaryOp::kLt &&
                          loop::StructuralEqual(condition->operands[1], e->operands[2]);
  if (!goes_round) return OpaqueIndex(e, speculative);
  const std::optional<Index> last = IndexOf(condition->operands[0], /*speculative=*/true);
  const std::optional<Index> first = IndexOf(e->operands[1], /*speculative=*/true);
  const std::optional<Index> next = IndexOf(e->operands[2], /*speculative=*/true);
  if (!last || !first || !next) return OpaqueIndex(e, speculative);
  const Interval a = index_.RangeOf(*first);
  const Interval b = index_.RangeOf(*next);
  const int64_t most = std::min(b.max, index_.RangeOf(*last).max);
  return OpaqueIndex(e, speculative, {std::min(a.min, b.min), std::max(a.max, most)});
}

std::optional<Index> LaunchEmitter::OpaqueIndex(const Expr& e, bool speculative, Interval within) {
  if (speculative && MayFault(e)) return std::nullopt;
  Value* value = nullptr;
  if (IsInt64(e)) {
    // Not by EmitExpr, which comes here for index operators.
    value = KnownValue(e);
    if (!value) value = values_.back()[e.get()] = EmitNode(e);
  } else {
    value = EmitExpr(e);
    llvm::Type* wide = WithElements(value->getType(), b_.getInt64Ty());
    value = b_.CreateIntCast(value, wide, IsSigned(e->dtype));
  }
  Interval range = Interval::OfType(e->dtype);
  if (e->kind == ExprKind::kCast && !IsFloat(e->operands[0]->dtype)) {
    const Interval from = Interval::OfType(e->operands[0]->dtype);
    const bool may_wrap = e->operands[0]->dtype == DataType::kUInt64;
    if (!may_wrap && range.min <= from.min && from.max <= range.max) range = from;
  }
  range = loop::Intersect(range, within);
  return index_.Of(value, range, loop::IsOfData(e));
}

std::optional<Index> LaunchEmitter::IndexOfBinary(const Expr& e, bool speculative) {
  const std::optional<Index> x = IndexOf(e->operands[0], speculative);
  const std::optional<Index> y = IndexOf(e->operands[1], speculative);
  if (!x || !y) return std::nullopt;
  switch (e->binary_op) {
    case BinaryOp::kAdd:
      return IndexMath::Sum(*x, *y);
    case BinaryOp::kSub:
      return IndexMath::Sum(*x, *y, -1);
    case BinaryOp::kMul:
      if (y->IsConstant()) return IndexMath::Scaled(*x, y->constant);
      if (x->IsConstant()) return IndexMath::Scaled(*y, x->constant);
      break;
    case BinaryOp::kFloorDiv:
      if (y->IsConstant() && y->constant > 0) return index_.FloorDiv(*x, y->constant);
      break;
    case BinaryOp::kFloorMod:
      if (y->IsConstant() && y->constant > 0) return index_.FloorMod(*x, y->constant);
      break;
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      const bool is_min = e->binary_op == BinaryOp::kMin;
      const Interval d = index_.RangeOfDifference(*x, *y);
      if (d.max <= 0) return is_min ? x : y;
      if (d.min >= 0) return is_min ? y : x;
      const Interval a = index_.RangeOf(*x);
      const Interval b = index_.RangeOf(*y);
      const Interval range = is_min ? loop::Min(a, b) : loop::Max(a, b);
      return index_.Of(
          EmitBinary(b_, e->binary_op, index_.Emit(*x), index_.Emit(*y), DataType::kInt64, traits_),
          range, index_.IsData(*x) || index_.IsData(*y));
    }
    default:
      break;
  }
  return OpaqueIndex(e, speculative);
}

std::optional<Index> LaunchEmitter::IndexOf(const Expr& e, bool speculative) {
  if (e->kind == ExprKind::kInt) return IndexMath::Constant(e->int_value);
  if (e->kind == ExprKind::kVar) {
    const auto found = vars_.find(e.get());
    if (found != vars_.end()) return found->second;
  }
  if (!IsInt64(e)) return OpaqueIndex(e, speculative);
  if (e->kind == ExprKind::kBinary) return IndexOfBinary(e, speculative);
  if (e->kind == ExprKind::kCast && e->operands[0]->kind == ExprKind::kVar) {
    return IndexOf(e->operands[0], speculative);
  }
  if (e->kind == ExprKind::kSelect) return IndexOfSelect(e, speculative);
  return OpaqueIndex(e, speculative);
}

}  // namespace hone::codegen
