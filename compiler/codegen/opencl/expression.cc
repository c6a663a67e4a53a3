#include "compiler/codegen/opencl/expression.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/codegen/opencl/conversion.h"
#include "compiler/codegen/opencl/float_arithmetic.h"

namespace hone::codegen::opencl {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;

// Expressions as long as this get a name of their own.
constexpr size_t kLong = 88;
// Shared ones of fewer letters are as good as a name.
constexpr size_t kShort = 12;

bool IsConnective(const Expr& e) {
  return e->kind == ExprKind::kBinary && e->dtype == DataType::kBool &&
         e->operands[0]->dtype == DataType::kBool &&
         (e->binary_op == BinaryOp::kAnd || e->binary_op == BinaryOp::kOr);
}

bool IsFloatProduct(const Expr& e) {
  return loop::IsBinary(e, BinaryOp::kMul) &&
         (e->dtype == DataType::kFloat32 || e->dtype == DataType::kFloat64);
}

bool IsSum(const Expr& e) {
  return loop::IsBinary(e, BinaryOp::kAdd) || loop::IsBinary(e, BinaryOp::kSub);
}

}  // namespace

void KernelScope::Fail(std::string message) {
  if (status.ok()) status = absl::InvalidArgumentError(std::move(message));
}

const Storage* KernelScope::Find(const loop::BufferNode& buffer) {
  const auto found = storage.find(&buffer);
  if (found != storage.end()) return &found->second;
  Fail(fmt::format("the buffer {} is neither in the table nor allocated around its use",
                   buffer.name));
  return nullptr;
}

ExpressionWriter::ExpressionWriter(KernelScope& scope, const loop::Bounds& bounds, Lines& lines,
                                   const std::vector<Expr>& roots)
    : scope_(scope), bounds_(bounds), lines_(&lines) {
  values_.emplace_back();
  for (const Expr& root : roots) {
    roots_.insert(root.get());
    CountUses(root);
  }
}

void ExpressionWriter::CountUses(const Expr& e) {
  if (++uses_[e.get()] > 1) return;
  for (const Expr& operand : e->operands) {
    if (IsSum(e) && IsFloatProduct(operand)) products_.insert(operand.get());
    CountUses(operand);
  }
}

const CText* ExpressionWriter::Known(const Expr& e) const {
  for (auto side = values_.rbegin(); side != values_.rend(); ++side) {
    const auto found = side->find(e.get());
    if (found != side->end()) return &found->second;
  }
  return nullptr;
}

CText ExpressionWriter::Named(const CText& value) {
  CText name{.code = scope_.names.Fresh("t"), .type = value.type};
  lines_->Add(fmt::format("const {} {} = {};", Name(value.type), name.code, value.code));
  return name;
}

bool ExpressionWriter::DeservesName(const Expr& e, const CText& text) const {
  if (e->kind == ExprKind::kInt || e->kind == ExprKind::kFloat || e->kind == ExprKind::kVar) {
    return false;
  }
  const auto found = uses_.find(e.get());
  const bool is_shared = found != uses_.end() && found->second > 1;
  if (is_shared) return text.code.size() >= kShort;
  return text.code.size() >= kLong && !products_.contains(e.get()) && !roots_.contains(e.get());
}

CText ExpressionWriter::Write(const Expr& e) {
  if (const CText* known = Known(e)) return *known;
  CText text = WriteNode(e);
  if (DeservesName(e, text)) text = Named(text);
  values_.back().insert_or_assign(e.get(), text);
  return text;
}

CText ExpressionWriter::WriteNode(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kInt:
    case ExprKind::kFloat:
      return WriteConstant(e);
    case ExprKind::kVar:
      return WriteVariable(e);
    case ExprKind::kLoad:
      return WriteLoad(e);
    case ExprKind::kUnary:
      return WriteUnary(e);
    case ExprKind::kBinary:
      return WriteBinary(e);
    case ExprKind::kSelect:
      return WriteSelect(e);
    case ExprKind::kCast:
      return WriteCast(e);
  }
  return {};
}

CText ExpressionWriter::WriteConstant(const Expr& e) const {
  if (e->kind == ExprKind::kFloat) return FloatLiteral(e->float_value, RegisterTypeOf(e->dtype));
  const bool is_short =
      e->dtype == DataType::kInt64 && FitsInt(loop::Interval::Point(e->int_value));
  return IntLiteral(e->int_value, is_short ? CType::kInt : RegisterTypeOf(e->dtype));
}

CText ExpressionWriter::WriteVariable(const Expr& e) {
  const auto found = scope_.variables.find(e.get());
  if (found != scope_.variables.end()) return found->second;
  scope_.Fail(fmt::format("no loop binds the variable {}", e->name));
  return IntLiteral(0, CType::kInt);
}

CText ExpressionWriter::WriteLoad(const Expr& e) {
  const Storage* storage = scope_.Find(*e->buffer);
  if (storage == nullptr) return FloatLiteral(0, CType::kFloat);
  if (storage->place == Storage::Place::kScalar) {
    return FromPrivate({.code = storage->name, .type = PrivateTypeOf(e->dtype)}, e->dtype);
  }
  const CText offset = Write(e->operands[0]);
  if (storage->place == Storage::Place::kGlobal) {
    return LoadGlobal(storage->name, offset, e->dtype);
  }
  const std::string element = fmt::format("{}[{}]", storage->name, offset.code);
  return FromPrivate({.code = element, .type = PrivateTypeOf(e->dtype)}, e->dtype);
}

IntOperand ExpressionWriter::Operand(const Expr& e) { return {Write(e), RangeOf(e)}; }

loop::Interval ExpressionWriter::RangeOf(const Expr& e) {
  if (IsFloat(e->dtype)) return {};
  if (const auto it = ranges_.find(e.get()); it != ranges_.end()) return it->second;
  return ranges_[e.get()] = loop::BoundsOf(e, bounds_);
}

CText ExpressionWriter::WriteUnary(const Expr& e) {
  const Expr& x = e->operands[0];
  if (IsFloat(x->dtype)) return FloatUnary(scope_.helpers, e->unary_op, Write(x), x->dtype);
  return IntUnary(scope_.helpers, e->unary_op, Operand(x), x->dtype, RangeOf(e), loop::IsOfData(e));
}

CText ExpressionWriter::WriteBinary(const Expr& e) {
  const Expr& x = e->operands[0];
  const Expr& y = e->operands[1];
  if (IsConnective(e) && MayFault(y)) {
    const bool is_and = e->binary_op == BinaryOp::kAnd;
    const Expr decided = loop::BoolConst(!is_and);
    return is_and ? Choose(x, y, decided, DataType::kBool) : Choose(x, decided, y, DataType::kBool);
  }
  if (!IsFloat(x->dtype)) {
    return IntBinary(scope_.helpers, e->binary_op, Operand(x), Operand(y), x->dtype, RangeOf(e),
                     loop::IsOfData(e));
  }
  std::optional<double> exponent;
  CText base = Write(x);
  if (e->binary_op == BinaryOp::kPow && y->kind == ExprKind::kFloat) {
    exponent = y->float_value;
    const bool is_repeated = exponent == 2 || exponent == 3;
    if (is_repeated && base.code.size() >= kShort) base = Named(base);
  }
  return FloatBinary(scope_.helpers, e->binary_op, base, Write(y), x->dtype, exponent);
}

CText ExpressionWriter::WriteCast(const Expr& e) {
  const Expr& x = e->operands[0];
  return Convert(scope_.helpers, Operand(x), x->dtype, e->dtype);
}

CText ExpressionWriter::WriteSelect(const Expr& e) {
  const Expr& condition = e->operands[0];
  const Expr& then = e->operands[1];
  const Expr& otherwise = e->operands[2];
  if (GuardsSides(e)) return Choose(condition, then, otherwise, e->dtype);
  const CText truth = Write(condition);
  const CText a = Write(then);
  const CText b = Write(otherwise);
  const CType type = CommonType(a, b, e->dtype);
  return {.code = fmt::format("{} ? {} : {}", Inside(truth, Binds::kOr),
                              Inside(As(a, type), Binds::kOr), Inside(As(b, type), Binds::kOr)),
          .type = type,
          .binds = Binds::kConditional};
}

bool ExpressionWriter::GuardsSides(const Expr& e) {
  if (e->kind == ExprKind::kSelect) return MayFault(e->operands[1]) || MayFault(e->operands[2]);
  return IsConnective(e) && MayFault(e->operands[1]);
}

bool ExpressionWriter::MayFault(const Expr& e) {
  if (e->operands.empty()) return false;
  if (const auto it = faults_.find(e.get()); it != faults_.end()) return it->second;
  bool faults = false;
  if (e->kind == ExprKind::kLoad) {
    const Storage* storage = scope_.Find(*e->buffer);
    faults = storage == nullptr || !RangeOf(e->operands[0]).Within(0, storage->elements - 1);
  }
  // The sides of a select too: what guards them may be the condition asked about.
  for (const Expr& operand : e->operands) faults = faults || MayFault(operand);
  return faults_[e.get()] = faults;
}

void ExpressionWriter::CollectSure(const Expr& e, std::vector<Expr>* order,
                                   absl::flat_hash_set<const loop::ExprNode*>* seen) {
  if (!seen->insert(e.get()).second) return;
  const size_t sure = GuardsSides(e) ? 1 : e->operands.size();
  for (size_t i = 0; i < sure; ++i) CollectSure(e->operands[i], order, seen);
  order->push_back(e);
}

CText ExpressionWriter::Choose(const Expr& condition, const Expr& then, const Expr& otherwise,
                               DataType dtype) {
  const CText truth = Write(condition);
  // What both sides need is written once, ahead of them.
  std::vector<Expr> order;
  std::vector<Expr> unused;
  absl::flat_hash_set<const loop::ExprNode*> of_then;
  absl::flat_hash_set<const loop::ExprNode*> of_otherwise;
  CollectSure(then, &order, &of_then);
  CollectSure(otherwise, &unused, &of_otherwise);
  for (const Expr& e : order) {
    const auto found = uses_.find(e.get());
    if (of_otherwise.contains(e.get()) && found != uses_.end() && found->second > 1) Write(e);
  }
  Side first = WriteSide(then);
  Side second = WriteSide(otherwise);
  if (!first.lines.empty() || !second.lines.empty()) {
    return ChooseByBranch(truth, std::move(first), std::move(second), dtype);
  }
  const CType type = CommonType(first.value, second.value, dtype);
  return {.code = fmt::format("{} ? {} : {}", Inside(truth, Binds::kOr),
                              Inside(As(first.value, type), Binds::kOr),
                              Inside(As(second.value, type), Binds::kOr)),
          .type = type,
          .binds = Binds::kConditional};
}

ExpressionWriter::Side ExpressionWriter::WriteSide(const Expr& e) {
  Side side{.lines = Lines(lines_->depth() + 1), .value = {}};
  Lines* const outer = std::exchange(lines_, &side.lines);
  values_.emplace_back();
  side.value = Write(e);
  values_.pop_back();
  lines_ = outer;
  return side;
}

CText ExpressionWriter::ChooseByBranch(const CText& condition, Side then, Side otherwise,
                                       DataType dtype) {
  CText chosen{.code = scope_.names.Fresh("t"),
               .type = CommonType(then.value, otherwise.value, dtype)};
  lines_->Add(fmt::format("{} {};", Name(chosen.type), chosen.code));
  const auto assign = [&](Side& side) {
    side.lines.Add(fmt::format("{} = {};", chosen.code, As(side.value, chosen.type).code));
    lines_->Append(side.lines);
  };
  lines_->Open(fmt::format("if ({})", condition.code));
  assign(then);
  lines_->Else();
  assign(otherwise);
  lines_->Close();
  return chosen;
}

}  // namespace hone::codegen::opencl
