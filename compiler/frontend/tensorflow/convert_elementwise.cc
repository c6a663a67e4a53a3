// Functions of single elements, with broadcasting.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/tensorflow/as_onnx.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "compiler/ops/evaluate.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

constexpr int64_t kMostFolded = 1 << 14;  // elements: the channels of a layer

// Operands that broadcast with one another.
struct Aligned {
  std::vector<ir::Expr> args;
  bool channels_first = false;
};

// With leading axes of 1 as broadcasting adds them, and the channels moved to the front.
absl::StatusOr<ir::Expr> AsImage(Layouts& layouts, const Value& value) {
  const int64_t rank = RankOf(value.e);
  if (value.channels_first || rank == 4) return layouts.ChannelsFirst(value);
  if (rank == 0) return value.e;
  Shape shape(4 - rank, 1);
  shape.insert(shape.end(), ShapeOf(value.e).begin(), ShapeOf(value.e).end());
  HONE_ASSIGN_OR_RETURN(const ir::Expr image, Reshaped(value.e, shape));
  return layouts.ChannelsFirst({image});
}

absl::StatusOr<Aligned> Align(NodeReader& node, size_t count) {
  if (node.size() != count) {
    return absl::InvalidArgumentError(
        fmt::format("{} operands were expected, found {}", count, node.size()));
  }
  Aligned result;
  bool images = true;
  for (const Value& value : node.args()) {
    result.channels_first |= value.channels_first;
    images = images && RankOf(value.e) <= 4;
  }
  result.channels_first = result.channels_first && images;
  for (const Value& value : node.args()) {
    HONE_ASSIGN_OR_RETURN(ir::Expr e, result.channels_first ? AsImage(node.layouts(), value)
                                                            : node.layouts().AsGiven(value));
    result.args.push_back(std::move(e));
  }
  return result;
}

// The arithmetic that is left of a batch normalisation is of constants alone: its value now, as
// long as it costs little.
ir::Expr Folded(const ir::Expr& e, const std::vector<ir::Expr>& args, Allowance& allowance) {
  constexpr int64_t kCost = 64;  // bytes an element, so that time is bounded as memory is
  const int64_t count = e->type->tensor.ElementCount();
  const bool constants = std::all_of(args.begin(), args.end(), [](const ir::Expr& arg) {
    return arg->kind == ir::ExprKind::kConstant;
  });
  if (!constants || e->kind == ir::ExprKind::kConstant || count > kMostFolded) return e;
  if (!allowance.Take(count * kCost).ok()) return e;
  absl::StatusOr<ir::Expr> value = ops::Evaluate(e);
  return value.ok() ? *std::move(value) : e;
}

using Body = std::function<ir::Expr(Formula& f, const std::vector<ir::Expr>& x)>;

Converter Elementwise(size_t operands, Body body) {
  return [operands, body](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const Aligned aligned, Align(node, operands));
    Formula f;
    HONE_ASSIGN_OR_RETURN(const ir::Expr e, f.FinishOne(body(f, aligned.args)));
    return One(Folded(e, aligned.args, node.layouts().allowance()), aligned.channels_first);
  };
}

Converter Plain(size_t operands, const std::string& op) {
  return Elementwise(operands,
                     [op](Formula& f, const std::vector<ir::Expr>& x) { return f.Call(op, x); });
}

Results LeakyRelu(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value x, node.Arg(0, "features"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.FloatAttr("alpha", 0.2));
  return One(Emit("nn.leaky_relu", {x.e}, {{"alpha", alpha}}), x.channels_first);
}

Results Cast(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value x, node.Arg(0, "x"));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, node.TypeAttrOf("DstT", 0));
  HONE_RETURN_IF_ERROR(node.BoolAttr("Truncate", false).status());
  Formula f;
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, f.FinishOne(f.Cast(x.e, dtype)));
  return One(Folded(e, {x.e}, node.layouts().allowance()), x.channels_first);
}

// Any number of operands of one shape.
Results AddN(NodeReader& node) {
  HONE_RETURN_IF_ERROR(node.IntAttr("N", 0).status());
  HONE_ASSIGN_OR_RETURN(const Aligned aligned, Align(node, std::max<size_t>(1, node.size())));
  Formula f;
  ir::Expr sum = aligned.args[0];
  for (size_t i = 1; i < aligned.args.size(); ++i) sum = f.Add(sum, aligned.args[i]);
  return One(f.FinishOne(sum), aligned.channels_first);
}

// Rounds down where "divide" rounds to zero.
ir::Expr FloorDiv(Formula& f, const std::vector<ir::Expr>& x) {
  if (IsFloat(DtypeOf(x[0]))) return f.Call("floor", {f.Div(x[0], x[1])});
  return f.Div(f.Sub(x[0], f.Call("floor_mod", x)), x[1]);
}

// An activation that ONNX has too, with the numbers that it has where a node says nothing.
Converter LikeOnnx(const std::string& op, int opset) {
  return [op, opset](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const Value x, node.Arg(0, "features"));
    return One(AsOnnx(node, op, opset, {x.e}), x.channels_first);
  };
}

// A vector of conditions is for the first axis; other conditions have the shape of both.
Results Select(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr given, node.Given(0, "condition"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Given(1, "t"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, node.Given(2, "e"));
  ir::Expr condition = given;
  if (RankOf(given) == 1 && RankOf(x) > 1) {
    Shape shape(RankOf(x), 1);
    shape[0] = ShapeOf(given)[0];
    HONE_ASSIGN_OR_RETURN(condition, Reshaped(given, shape));
  }
  return One(Emit("where", {condition, x, y}));
}

void AddUnary(ConverterTable& table) {
  const std::pair<const char*, const char*> same[] = {
      {"Relu", "nn.relu"}, {"Sigmoid", "sigmoid"},
      {"Tanh", "tanh"},    {"Exp", "exp"},
      {"Log", "log"},      {"Sqrt", "sqrt"},
      {"Rsqrt", "rsqrt"},  {"Neg", "negative"},
      {"Abs", "abs"},      {"Sign", "sign"},
      {"Floor", "floor"},  {"Ceil", "ceil"},
      {"Rint", "round"},   {"Erf", "erf"},
      {"Sin", "sin"},      {"Cos", "cos"},
      {"Tan", "tan"},      {"Asin", "asin"},
      {"Acos", "acos"},    {"Atan", "atan"},
      {"Sinh", "sinh"},    {"Cosh", "cosh"},
      {"Asinh", "asinh"},  {"Acosh", "acosh"},
      {"Atanh", "atanh"},  {"IsNan", "isnan"},
      {"IsInf", "isinf"},  {"LogicalNot", "logical_not"},
      {"Expm1", "expm1"},  {"Log1p", "log1p"}};
  for (const auto& [name, op] : same) table[name] = Plain(1, op);
  table["Round"] = table["Rint"];  // to even
  table["Relu6"] = Elementwise(1, [](Formula& f, const std::vector<ir::Expr>& x) {
    return f.Call("clip", x, {{"a_min", 0.0}, {"a_max", 6.0}});
  });
  table["Square"] =
      Elementwise(1, [](Formula& f, const std::vector<ir::Expr>& x) { return f.Mul(x[0], x[0]); });
  const auto inverse = [](Formula& f, const std::vector<ir::Expr>& x) {
    return f.Div(f.Number(1, x[0]), x[0]);
  };
  table["Reciprocal"] = table["Inv"] = Elementwise(1, inverse);
  table["LeakyRelu"] = LeakyRelu;
  table["Elu"] = LikeOnnx("Elu", 6);
  table["Selu"] = LikeOnnx("Selu", 6);
  table["Softplus"] = LikeOnnx("Softplus", 1);
  table["Softsign"] = LikeOnnx("Softsign", 1);
  table["Cast"] = Cast;
}

void AddBinary(ConverterTable& table) {
  const std::pair<const char*, const char*> same[] = {{"Add", "add"},
                                                      {"AddV2", "add"},
                                                      {"Sub", "subtract"},
                                                      {"Mul", "multiply"},
                                                      {"RealDiv", "divide"},
                                                      {"Div", "divide"},
                                                      {"Maximum", "maximum"},
                                                      {"Minimum", "minimum"},
                                                      {"Pow", "power"},
                                                      {"FloorMod", "floor_mod"},
                                                      {"Less", "less"},
                                                      {"LessEqual", "less_equal"},
                                                      {"Greater", "greater"},
                                                      {"GreaterEqual", "greater_equal"},
                                                      {"Equal", "equal"},
                                                      {"NotEqual", "not_equal"},
                                                      {"LogicalAnd", "logical_and"},
                                                      {"LogicalOr", "logical_or"}};
  for (const auto& [name, op] : same) table[name] = Plain(2, op);
  for (const char* name : {"Equal", "NotEqual"}) {
    table[name] = [compare = table[name]](NodeReader& node) -> Results {
      HONE_RETURN_IF_ERROR(node.BoolAttr("incompatible_shape_error", true).status());
      return compare(node);
    };
  }
  table["FloorDiv"] = Elementwise(2, FloorDiv);
  table["SquaredDifference"] = Elementwise(2, [](Formula& f, const std::vector<ir::Expr>& x) {
    const ir::Expr difference = f.Sub(x[0], x[1]);
    return f.Mul(difference, difference);
  });
}

}  // namespace

void AddElementwiseConverters(ConverterTable& table) {
  AddUnary(table);
  AddBinary(table);
  table["Select"] = Select;
  table["SelectV2"] = Plain(3, "where");
  table["AddN"] = AddN;
}

}  // namespace hone::frontend::tf
