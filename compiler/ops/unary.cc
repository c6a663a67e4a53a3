// Elementwise functions of one operand.
#include <functional>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using loop::UnaryOp;

// What one element becomes. Floats of 16 bits arrive as float32 and are rounded once at the end.
using ScalarFunction = std::function<Expr(const Expr& x, const ir::Attrs& attrs)>;

enum class Domain { kAny, kNumbers, kIntegers, kFloats };

struct Entry {
  std::string name;
  Domain domain;
  ScalarFunction function;
  std::vector<AttrSpec> attrs = {};
  bool gives_bool = false;
  double flops = 1;
};

Expr Zero(const Expr& x) { return loop::Const(0, x->dtype); }

ScalarFunction Map(UnaryOp op) {
  return [op](const Expr& x, const ir::Attrs&) { return loop::Unary(op, x); };
}

Expr Relu(const Expr& x, const ir::Attrs&) { return Max(x, Zero(x)); }

Expr Clip(const Expr& x, const ir::Attrs& attrs) {
  Expr y = x;
  if (attrs.contains("a_min")) y = Max(y, NumberAttr(attrs, "a_min", 0, x->dtype));
  if (attrs.contains("a_max")) y = Min(y, NumberAttr(attrs, "a_max", 0, x->dtype));
  return y;
}

Expr LeakyRelu(const Expr& x, const ir::Attrs& attrs) {
  const Expr alpha = loop::Const(FloatAttr(attrs, "alpha", 0.01), x->dtype);
  return loop::Select(Lt(x, Zero(x)), x * alpha, x);
}

Expr Identity(const Expr& x, const ir::Attrs&) { return x; }

std::vector<Entry> Entries() {
  std::vector<Entry> entries = {
      {"copy", Domain::kAny, Identity, {}, false, 0},
      {"nn.dropout", Domain::kAny, Identity, {{"rate", AttrKind::kFloat}}, false, 0},
      {"nn.relu", Domain::kNumbers, Relu},
      {"clip",
       Domain::kNumbers,
       Clip,
       {{"a_min", AttrKind::kFloat}, {"a_max", AttrKind::kFloat}},
       false,
       2},
      {"nn.leaky_relu", Domain::kFloats, LeakyRelu, {{"alpha", AttrKind::kFloat}}, false, 2},
      {"negative", Domain::kNumbers, Map(UnaryOp::kNeg)},
      {"abs", Domain::kNumbers, Map(UnaryOp::kAbs)},
      {"sign", Domain::kNumbers, Map(UnaryOp::kSign)},
      {"bitwise_not", Domain::kIntegers, Map(UnaryOp::kNot)},
      {"logical_not", Domain::kAny, Map(UnaryOp::kNot)},
      {"isnan", Domain::kFloats, Map(UnaryOp::kIsNan), {}, true},
      {"isinf", Domain::kFloats, Map(UnaryOp::kIsInf), {}, true}};
  const std::pair<const char*, UnaryOp> floats[] = {
      {"expm1", UnaryOp::kExpm1}, {"log1p", UnaryOp::kLog1p}, {"sqrt", UnaryOp::kSqrt},
      {"rsqrt", UnaryOp::kRsqrt}, {"exp", UnaryOp::kExp},     {"log", UnaryOp::kLog},
      {"tanh", UnaryOp::kTanh},   {"erf", UnaryOp::kErf},     {"sigmoid", UnaryOp::kSigmoid},
      {"floor", UnaryOp::kFloor}, {"ceil", UnaryOp::kCeil},   {"round", UnaryOp::kRound},
      {"sin", UnaryOp::kSin},     {"cos", UnaryOp::kCos},     {"tan", UnaryOp::kTan},
      {"asin", UnaryOp::kAsin},   {"acos", UnaryOp::kAcos},   {"atan", UnaryOp::kAtan},
      {"sinh", UnaryOp::kSinh},   {"cosh", UnaryOp::kCosh},   {"asinh", UnaryOp::kAsinh},
      {"acosh", UnaryOp::kAcosh}, {"atanh", UnaryOp::kAtanh}};
  for (const auto& [name, op] : floats) entries.push_back({name, Domain::kFloats, Map(op)});
  return entries;
}

absl::StatusOr<ir::Type> Infer(const Entry& entry, const std::vector<ir::Type>& args) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(entry.name, args, 0, "data"));
  if (entry.name == "logical_not" && data.dtype != DataType::kBool) {
    return OperandError(entry.name, "data", "bool", data.ToString());
  }
  if (entry.domain == Domain::kFloats && !IsFloat(data.dtype)) {
    return OperandError(entry.name, "data", "floats", data.ToString());
  }
  if (entry.domain == Domain::kIntegers && !IsInteger(data.dtype)) {
    return OperandError(entry.name, "data", "integers", data.ToString());
  }
  if (entry.domain == Domain::kNumbers && data.dtype == DataType::kBool) {
    return OperandError(entry.name, "data", "numbers", data.ToString());
  }
  return TensorOf(std::move(data.shape), entry.gives_bool ? DataType::kBool : data.dtype);
}

std::vector<loop::Buffer> Define(const Entry& entry, loop::NestBuilder& builder,
                                 const loop::Buffer& data, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const DataType inner = IsFloat(data->dtype) ? AccumulatorType(data->dtype) : data->dtype;
  const std::string stage = entry.name.starts_with("nn.") ? entry.name.substr(3) : entry.name;
  return {builder.Compute(stage, result.tensor.dtype, result.tensor.shape,
                          [&](const std::vector<Expr>& axes) {
                            const Expr x = CastTo(inner, loop::Load(data, axes));
                            return CastTo(result.tensor.dtype, entry.function(x, attrs));
                          })};
}

}  // namespace

void RegisterUnary(std::vector<Op>& table) {
  for (const Entry& entry : Entries()) {
    Op op;
    op.name = entry.name;
    op.kind = FuseKind::kElemwise;
    op.attrs = entry.attrs;
    op.infer_type = [entry](const auto& args, const auto&) { return Infer(entry, args); };
    op.define = [entry](auto& builder, const auto& args, const auto& attrs, const auto& result) {
      return Define(entry, builder, args[0], attrs, result);
    };
    op.flops = [flops = entry.flops](const auto&, const auto&, const auto& result) {
      return flops * static_cast<double>(result.tensor.ElementCount());
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
