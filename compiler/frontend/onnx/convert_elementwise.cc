// Functions of single elements: of one operand, of two with broadcasting, of many (Sum, Max, Min).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

Converter Unary(const std::string& op) {
  return [op](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
    HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit(op, {x}));
    return std::vector<ir::Expr>{result};
  };
}

// Before opset 7 the axes of B could stand for those of A from `axis` on; else B as it is.
absl::StatusOr<ir::Expr> FromAxis(NodeReader& node, const ir::Expr& a, const ir::Expr& b) {
  if (node.opset() >= 7) return b;
  HONE_ASSIGN_OR_RETURN(const int64_t broadcast, node.Int("broadcast", 0));
  const bool has_axis = node.HasAttr("axis");
  if (broadcast == 0 || !has_axis) return b;
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, BoundaryOf(given, RankOf(a)));
  if (axis + RankOf(b) > RankOf(a)) {
    return absl::InvalidArgumentError(fmt::format("{} was expected to fit into {} from axis {} on",
                                                  b->type->ToString(), a->type->ToString(), axis));
  }
  Shape shape = ShapeOf(b);
  shape.resize(RankOf(a) - axis, 1);
  Formula f;
  return f.FinishOne(f.Reshape(b, shape));
}

Converter Binary(const std::string& op) {
  return [op](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
    HONE_ASSIGN_OR_RETURN(ir::Expr b, node.Arg(1, "B"));
    HONE_ASSIGN_OR_RETURN(b, FromAxis(node, a, b));
    HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit(op, {a, b}));
    return std::vector<ir::Expr>{result};
  };
}

Converter Variadic(const std::string& op) {
  return [op](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(ir::Expr result, node.Arg(0, "data_0"));
    for (size_t i = 1; i < node.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr next, node.Arg(i, "data"));
      HONE_ASSIGN_OR_RETURN(result, Emit(op, {result, next}));
    }
    return std::vector<ir::Expr>{result};
  };
}

Results LeakyRelu(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 0.01));
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("nn.leaky_relu", {x}, {{"alpha", alpha}}));
  return std::vector<ir::Expr>{result};
}

// Bounds are attributes before opset 11 and operands from then on.
Results Clip(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr result, node.Arg(0, "X"));
  ir::Attrs attrs;
  for (size_t i = 1; i <= 2; ++i) {
    const std::string name = i == 1 ? "min" : "max";
    if (node.HasAttr(name)) {
      HONE_ASSIGN_OR_RETURN(const double bound, node.Float(name, 0));
      attrs[i == 1 ? "a_min" : "a_max"] = bound;
    } else if (node.Has(i) && IsNumberOfAttr(node.args()[i])) {
      HONE_ASSIGN_OR_RETURN(attrs[i == 1 ? "a_min" : "a_max"],
                            ConstantNumber(node.args()[i], name));
    } else if (node.Has(i)) {
      if (!attrs.empty()) {
        HONE_ASSIGN_OR_RETURN(result, Emit("clip", {result}, std::move(attrs)));
        attrs = {};
      }
      HONE_ASSIGN_OR_RETURN(result, Emit(i == 1 ? "maximum" : "minimum", {result, node.args()[i]}));
    }
  }
  if (!attrs.empty()) {
    HONE_ASSIGN_OR_RETURN(result, Emit("clip", {result}, std::move(attrs)));
  }
  return std::vector<ir::Expr>{result};
}

Results Identity(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr x, node.Arg(0, "input"));
  return std::vector<ir::Expr>{std::move(x)};
}

Results Where(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr condition, node.Arg(0, "condition"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(1, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, node.Arg(2, "Y"));
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("where", {condition, x, y}));
  return std::vector<ir::Expr>{result};
}

// What is within the error of a power of an integer is that integer, before truncation makes
// 124.9999999999999 of 5^3 another one.
ir::Expr NearInteger(Formula& f, const ir::Expr& x) {
  const ir::Expr whole = f.Call("round", {x});
  const ir::Expr error = f.Call("abs", {f.Sub(x, whole)});
  const ir::Expr allowed = f.Mul(f.Call("abs", {whole}), f.Number(1e-12, x));
  return f.Where(f.Call("less_equal", {error, allowed}), whole, x);
}

// The exponent may have another type than the base, which the result has.
Results Pow(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr base, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(ir::Expr exponent, node.Arg(1, "Y"));
  HONE_ASSIGN_OR_RETURN(exponent, FromAxis(node, base, exponent));
  Formula f;
  DataType inner = DtypeOf(base);
  if (DtypeOf(exponent) != inner && !IsFloat(inner)) {
    inner = IsFloat(DtypeOf(exponent)) ? DataType::kFloat64 : DataType::kInt64;
  }
  ir::Expr power = f.Call("power", {f.Cast(base, inner), f.Cast(exponent, inner)});
  if (inner == DataType::kFloat64 && DtypeOf(base) != inner) power = NearInteger(f, power);
  return f.Finish({f.Cast(power, DtypeOf(base))});
}

Results Mean(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> sum, Variadic("add")(node));
  const auto count = static_cast<double>(node.size());
  HONE_ASSIGN_OR_RETURN(sum[0], Emit("divide", {sum[0], ScalarConstant(count, DtypeOf(sum[0]))}));
  return sum;
}

}  // namespace

void AddElementwiseConverters(ConverterTable& table) {
  const std::pair<const char*, const char*> unary[] = {
      {"Relu", "nn.relu"},    {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"},   {"Exp", "exp"},
      {"Log", "log"},         {"Sqrt", "sqrt"},       {"Abs", "abs"},     {"Neg", "negative"},
      {"Floor", "floor"},     {"Ceil", "ceil"},       {"Round", "round"}, {"Erf", "erf"},
      {"Sin", "sin"},         {"Cos", "cos"},         {"Tan", "tan"},     {"Asin", "asin"},
      {"Acos", "acos"},       {"Atan", "atan"},       {"Sinh", "sinh"},   {"Cosh", "cosh"},
      {"Asinh", "asinh"},     {"Acosh", "acosh"},     {"Atanh", "atanh"}, {"Sign", "sign"},
      {"Not", "logical_not"}, {"IsNaN", "isnan"}};
  for (const auto& [onnx, op] : unary) table[onnx] = Unary(op);
  const std::pair<const char*, const char*> binary[] = {{"Add", "add"},
                                                        {"Sub", "subtract"},
                                                        {"Mul", "multiply"},
                                                        {"Div", "divide"},
                                                        {"Equal", "equal"},
                                                        {"Less", "less"},
                                                        {"LessOrEqual", "less_equal"},
                                                        {"Greater", "greater"},
                                                        {"GreaterOrEqual", "greater_equal"},
                                                        {"And", "logical_and"},
                                                        {"Or", "logical_or"},
                                                        {"Xor", "logical_xor"}};
  for (const auto& [onnx, op] : binary) table[onnx] = Binary(op);
  table["Sum"] = Variadic("add");
  table["Max"] = Variadic("maximum");
  table["Min"] = Variadic("minimum");
  table["Mean"] = Mean;
  table["Pow"] = Pow;
  table["LeakyRelu"] = LeakyRelu;
  table["Clip"] = Clip;
  table["Identity"] = Identity;
  table["Where"] = Where;
}

}  // namespace hone::frontend
