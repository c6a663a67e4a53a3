// Elementwise functions of two operands, and `where`, with numpy's broadcasting.
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::BinaryOp;
using loop::Expr;

enum class Operands { kNumbers, kIntegers, kBools, kAny };

struct Entry {
  const char* name;
  BinaryOp op;
  Operands operands;
  bool gives_bool;
};

constexpr Entry kEntries[] = {
    {"add", BinaryOp::kAdd, Operands::kNumbers, false},
    {"subtract", BinaryOp::kSub, Operands::kNumbers, false},
    {"multiply", BinaryOp::kMul, Operands::kNumbers, false},
    {"divide", BinaryOp::kDiv, Operands::kNumbers, false},
    {"maximum", BinaryOp::kMax, Operands::kNumbers, false},
    {"minimum", BinaryOp::kMin, Operands::kNumbers, false},
    {"power", BinaryOp::kPow, Operands::kNumbers, false},
    {"mod", BinaryOp::kMod, Operands::kNumbers, false},
    {"floor_mod", BinaryOp::kFloorMod, Operands::kNumbers, false},
    {"equal", BinaryOp::kEq, Operands::kAny, true},
    {"not_equal", BinaryOp::kNe, Operands::kAny, true},
    {"less", BinaryOp::kLt, Operands::kNumbers, true},
    {"less_equal", BinaryOp::kLe, Operands::kNumbers, true},
    {"greater", BinaryOp::kGt, Operands::kNumbers, true},
    {"greater_equal", BinaryOp::kGe, Operands::kNumbers, true},
    {"logical_and", BinaryOp::kAnd, Operands::kBools, true},
    {"logical_or", BinaryOp::kOr, Operands::kBools, true},
    {"logical_xor", BinaryOp::kXor, Operands::kBools, true},
    {"bitwise_and", BinaryOp::kBitAnd, Operands::kIntegers, false},
    {"bitwise_or", BinaryOp::kBitOr, Operands::kIntegers, false},
    {"bitwise_xor", BinaryOp::kXor, Operands::kIntegers, false},
    {"left_shift", BinaryOp::kShiftLeft, Operands::kIntegers, false},
    {"right_shift", BinaryOp::kShiftRight, Operands::kIntegers, false},
};

absl::StatusOr<ir::Type> Infer(const Entry& entry, const std::vector<ir::Type>& args) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType lhs, TensorOperand(entry.name, args, 0, "lhs"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType rhs, TensorOperand(entry.name, args, 1, "rhs"));
  const bool is_bool = lhs.dtype == DataType::kBool;
  if ((entry.operands == Operands::kBools && !is_bool) ||
      (entry.operands == Operands::kNumbers && is_bool)) {
    return OperandError(entry.name, "lhs", is_bool ? "numbers" : "bool", lhs.ToString());
  }
  if (entry.operands == Operands::kIntegers && !IsInteger(lhs.dtype)) {
    return OperandError(entry.name, "lhs", "integers", lhs.ToString());
  }
  if (rhs.dtype != lhs.dtype) {
    return OperandError(entry.name, "rhs", std::string(Name(lhs.dtype)) + " as the lhs",
                        rhs.ToString());
  }
  HONE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(entry.name, lhs.shape, rhs.shape));
  return TensorOf(std::move(shape), entry.gives_bool ? DataType::kBool : lhs.dtype);
}

// Sums and products of 16-bit floats round the same whether or not they pass through float32, so
// casts are for functions that are more than one rounding (power, mod).
std::vector<loop::Buffer> Define(const Entry& entry, loop::NestBuilder& builder,
                                 const std::vector<loop::Buffer>& args, const ir::Type& result) {
  const DataType operand = args[0]->dtype;
  const DataType inner = IsFloat(operand) ? AccumulatorType(operand) : operand;
  return {builder.Compute(
      entry.name, result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        return CastTo(result.tensor.dtype,
                      loop::Binary(entry.op, CastTo(inner, BroadcastLoad(args[0], axes)),
                                   CastTo(inner, BroadcastLoad(args[1], axes))));
      })};
}

absl::StatusOr<ir::Type> InferWhere(const std::vector<ir::Type>& args) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType condition,
                        TensorOperand("where", args, 0, "condition"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType x, TensorOperand("where", args, 1, "x"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType y, TensorOperand("where", args, 2, "y"));
  if (condition.dtype != DataType::kBool) {
    return OperandError("where", "condition", "bool", condition.ToString());
  }
  if (y.dtype != x.dtype) {
    return OperandError("where", "y", std::string(Name(x.dtype)) + " as x", y.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const Shape both, BroadcastShape("where", x.shape, y.shape));
  HONE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape("where", condition.shape, both));
  return TensorOf(std::move(shape), x.dtype);
}

Op MakeWhere() {
  Op op;
  op.name = "where";
  op.min_args = op.max_args = 3;
  op.kind = FuseKind::kBroadcast;
  op.infer_type = [](const auto& args, const auto&) { return InferWhere(args); };
  op.define = [](auto& builder, const auto& args, const auto&,
                 const auto& result) -> std::vector<loop::Buffer> {
    return {builder.Compute(
        "where", result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
          return loop::Select(BroadcastLoad(args[0], axes), BroadcastLoad(args[1], axes),
                              BroadcastLoad(args[2], axes));
        })};
  };
  return op;
}

}  // namespace

void RegisterBinary(std::vector<Op>& table) {
  for (const Entry& entry : kEntries) {
    Op op;
    op.name = entry.name;
    op.min_args = op.max_args = 2;
    op.kind = FuseKind::kBroadcast;
    op.infer_type = [entry](const auto& args, const auto&) { return Infer(entry, args); };
    op.define = [entry](auto& builder, const auto& args, const auto&, const auto& result) {
      return Define(entry, builder, args, result);
    };
    table.push_back(std::move(op));
  }
  table.push_back(MakeWhere());
}

}  // namespace hone::ops
