// Activations: Celu, Elu, Gelu, HardSigmoid, HardSwish, Hardmax, Mish, PRelu, Reciprocal, Selu,
// Shrink, Softplus, Softsign, ThresholdedRelu. All are compositions, which fusion makes one kernel.
#include <functional>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/gelu.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// `a` has the attributes in order.
using ActivationBody = ir::Expr (*)(Formula& f, const ir::Expr& x, const std::vector<double>& a);

struct ActivationOp {
  const char* name;
  std::vector<std::pair<const char*, double>> attrs;  // with their defaults
  ActivationBody body;
};

ir::Expr Clip(Formula& f, const ir::Expr& x, double low, double high) {
  return f.Call("clip", {x}, {{"a_min", low}, {"a_max", high}});
}

// alpha * (e^x - 1).
ir::Expr ExpMinusOne(Formula& f, const ir::Expr& x, double alpha) {
  const ir::Expr power = f.Call("expm1", {x});
  return alpha == 1 ? power : f.Mul(power, f.Number(alpha, x));
}

ir::Expr Elu(Formula& f, const ir::Expr& x, const std::vector<double>& a) {
  return f.Where(f.Less(x, f.Number(0, x)), ExpMinusOne(f, x, a[0]), x);
}

ir::Expr Selu(Formula& f, const ir::Expr& x, const std::vector<double>& a) {
  return f.Mul(Elu(f, x, a), f.Number(a[1], x));
}

ir::Expr Celu(Formula& f, const ir::Expr& x, const std::vector<double>& a) {
  const ir::Expr power = ExpMinusOne(f, f.Div(x, f.Number(a[0], x)), a[0]);
  return f.Add(f.Max(x, f.Number(0, x)), f.Min(power, f.Number(0, x)));
}

ir::Expr HardSigmoid(Formula& f, const ir::Expr& x, const std::vector<double>& a) {
  return Clip(f, f.Add(f.Mul(x, f.Number(a[0], x)), f.Number(a[1], x)), 0, 1);
}

ir::Expr HardSwish(Formula& f, const ir::Expr& x, const std::vector<double>&) {
  return f.Mul(x, HardSigmoid(f, x, {1.0 / 6, 0.5}));
}

// log(1 + e^x), without overflow.
ir::Expr Softplus(Formula& f, const ir::Expr& x, const std::vector<double>&) {
  const ir::Expr power = f.Call("exp", {f.Call("negative", {f.Call("abs", {x})})});
  return f.Add(f.Max(x, f.Number(0, x)), f.Call("log1p", {power}));
}

// x * tanh(log(1 + e^x)) is x * n / (n + 2) for n = (1 + e^x)^2 - 1 = e^x (e^x + 2), of which
// nothing cancels. From 20 on the quotient is 1.
ir::Expr Mish(Formula& f, const ir::Expr& x, const std::vector<double>&) {
  constexpr double kAllOfX = 20;
  const ir::Expr power = f.Call("exp", {f.Min(x, f.Number(kAllOfX, x))});
  const ir::Expr n = f.Mul(power, f.Add(power, f.Number(2, x)));
  return f.Mul(x, f.Div(n, f.Add(n, f.Number(2, x))));
}

ir::Expr Softsign(Formula& f, const ir::Expr& x, const std::vector<double>&) {
  return f.Div(x, f.Add(f.Call("abs", {x}), f.Number(1, x)));
}

ir::Expr ThresholdedRelu(Formula& f, const ir::Expr& x, const std::vector<double>& a) {
  return f.Where(f.Call("greater", {x, f.Number(a[0], x)}), x, f.Number(0, x));
}

ir::Expr Reciprocal(Formula& f, const ir::Expr& x, const std::vector<double>&) {
  return f.Div(f.Number(1, x), x);
}

// a: bias, lambd.
ir::Expr Shrink(Formula& f, const ir::Expr& x, const std::vector<double>& a) {
  const ir::Expr below = f.Less(x, f.Number(-a[1], x));
  const ir::Expr above = f.Call("greater", {x, f.Number(a[1], x)});
  const ir::Expr bias = f.Number(a[0], x);
  return f.Where(below, f.Add(x, bias), f.Where(above, f.Sub(x, bias), f.Number(0, x)));
}

// Before opset 6 the defaults of Selu had four digits behind the point; the others have no more.
double RoundedDefault(double value) { return std::round(value * 1e4) / 1e4; }

Converter Convert(const ActivationOp& activation) {
  return [activation](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
    std::vector<double> values;
    for (const auto& [name, newest] : activation.attrs) {
      const double fallback = node.opset() < 6 ? RoundedDefault(newest) : newest;
      HONE_ASSIGN_OR_RETURN(const double value, node.Float(name, fallback));
      values.push_back(value);
    }
    Formula f;
    const DataType dtype = DtypeOf(x);
    const ir::Expr inner = IsFloat(dtype) ? f.Wide(x) : f.Cast(x, DataType::kFloat64);
    return f.Finish({f.Cast(activation.body(f, inner, values), dtype)});
  };
}

Results Gelu(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const std::string approximate, node.String("approximate", "none"));
  if (approximate != "none" && approximate != "tanh") {
    return absl::InvalidArgumentError("approximate: none or tanh was expected, found " +
                                      approximate);
  }
  Formula f;
  const ir::Expr x = f.Wide(data);
  const ir::Expr y = approximate == "none" ? ErfGelu(f, x) : TanhGelu(f, x);
  return f.Finish({f.Cast(y, DtypeOf(data))});
}

// The slope broadcasts to X; before opset 7 a vector of slopes was for the channels.
Results PRelu(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(ir::Expr slope, node.Arg(1, "slope"));
  Formula f;
  if (node.opset() < 7 && RankOf(slope) == 1 && RankOf(x) > 2) {
    slope = f.Reshape(slope, AlongAxis(ShapeOf(slope)[0], 1, RankOf(x)));
  }
  return f.Finish({f.Where(f.Less(x, f.Number(0, x)), f.Mul(x, slope), x)});
}

// 1 where the first of the largest is. Before opset 13 the axes from `axis` on are one.
Results Hardmax(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  const bool flattens = node.opset() < 13;
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", flattens ? 1 : -1));
  HONE_ASSIGN_OR_RETURN(int64_t axis,
                        flattens ? BoundaryOf(given, RankOf(data)) : AxisOf(given, RankOf(data)));
  Formula f;
  ir::Expr x = data;
  if (flattens) {
    Shape flat = {1, 1};
    for (int64_t i = 0; i < RankOf(data); ++i) flat[i < axis ? 0 : 1] *= ShapeOf(data)[i];
    x = f.Reshape(data, flat);
    axis = 1;
  }
  if (!x || x->type->tensor.ElementCount() == 0) return f.Finish({data});
  const int64_t extent = ShapeOf(x)[axis];
  HONE_RETURN_IF_ERROR(node.Generate(extent * static_cast<int64_t>(sizeof(int64_t))));
  std::vector<int64_t> numbers(extent);
  for (int64_t i = 0; i < extent; ++i) numbers[i] = i;
  const ir::Expr at = f.Reshape(IntsConstant(numbers), AlongAxis(extent, axis, RankOf(x)));
  const ir::Expr best = f.Call("argmax", {x}, {{"axis", axis}, {"keepdims", true}});
  const ir::Expr hot = f.Cast(f.Call("equal", {at, best}), DtypeOf(data));
  return f.Finish({f.Reshape(hot, ShapeOf(data))});
}

}  // namespace

void AddActivationConverters(ConverterTable& table) {
  const ActivationOp activations[] = {
      {"Celu", {{"alpha", 1}}, Celu},
      {"Elu", {{"alpha", 1}}, Elu},
      {"HardSigmoid", {{"alpha", 0.2}, {"beta", 0.5}}, HardSigmoid},
      {"HardSwish", {}, HardSwish},
      {"Mish", {}, Mish},
      {"Reciprocal", {}, Reciprocal},
      {"Selu", {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}, Selu},
      {"Shrink", {{"bias", 0}, {"lambd", 0.5}}, Shrink},
      {"Softplus", {}, Softplus},
      {"Softsign", {}, Softsign},
      {"ThresholdedRelu", {{"alpha", 1}}, ThresholdedRelu}};
  for (const ActivationOp& activation : activations) table[activation.name] = Convert(activation);
  table["Gelu"] = Gelu;
  table["Hardmax"] = Hardmax;
  table["PRelu"] = PRelu;
}

}  // namespace hone::frontend
