// The bitwise operators, BitShift, Mod, IsInf, CastLike.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/four_bit.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

Converter Bitwise(const std::string& op) {
  return [op](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
    HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "B"));
    Formula f;
    return f.Finish({f.Call(op, {a, b})});
  };
}

Results BitwiseNot(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  Formula f;
  return f.Finish({f.Call("bitwise_not", {x})});
}

Results BitShift(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "Y"));
  HONE_ASSIGN_OR_RETURN(const std::string direction, node.String("direction", ""));
  if (direction != "LEFT" && direction != "RIGHT") {
    return absl::InvalidArgumentError(
        fmt::format("direction: LEFT or RIGHT was expected, found {}", direction));
  }
  Formula f;
  return f.Finish({f.Call(direction == "LEFT" ? "left_shift" : "right_shift", {a, b})});
}

// As numpy's mod (the sign of the divisor), or with fmod as C's (the sign of the dividend).
Results Mod(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "B"));
  HONE_ASSIGN_OR_RETURN(const int64_t fmod, node.Int("fmod", 0));
  Formula f;
  return f.Finish({f.Call(fmod != 0 ? "mod" : "floor_mod", {a, b})});
}

Results IsInf(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const int64_t negative, node.Int("detect_negative", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t positive, node.Int("detect_positive", 1));
  Formula f;
  ir::Expr result = f.Call("isinf", {x});
  if (negative == 0) {
    result = f.Call("logical_and", {result, f.Call("greater", {x, f.Number(0, x)})});
  }
  if (positive == 0) result = f.Call("logical_and", {result, f.Less(x, f.Number(0, x))});
  return f.Finish({result});
}

Results CastLike(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr like, node.Arg(1, "target_type"));
  HONE_RETURN_IF_ERROR(node.Int("saturate", 1).status());  // of 8-bit floats alone
  HONE_RETURN_IF_ERROR(node.String("round_mode", "up").status());
  if (node.Has(1, Trait::kFourBit)) {
    node.GiveTrait(0, Trait::kFourBit);
    return One(ToFourBit(x, DtypeOf(like)));
  }
  Formula f;
  return f.Finish({f.Cast(x, DtypeOf(like))});
}

}  // namespace

void AddLogicConverters(ConverterTable& table) {
  table["BitShift"] = BitShift;
  table["BitwiseAnd"] = Bitwise("bitwise_and");
  table["BitwiseNot"] = BitwiseNot;
  table["BitwiseOr"] = Bitwise("bitwise_or");
  table["BitwiseXor"] = Bitwise("bitwise_xor");
  table["CastLike"] = CastLike;
  table["IsInf"] = IsInf;
  table["Mod"] = Mod;
}

}  // namespace hone::frontend
