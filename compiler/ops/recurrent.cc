// One step of recurrent nets: products of the state before with the weights of all gates, and what
// the gates make of them. The input's products come from outside, of all steps at once.
//
// nn.lstm_cell: projected (batch, 4, units), gates in the order i, o, f, c; h (batch, terms); c
// (batch, units); recurrence (4, units, terms); peepholes of i, o, f (3, units), optional. Gives h
// and c.
// nn.gru_cell, whose reset comes behind the product: projected (batch, 3, units), gates in the
// order z, r, h; h (batch, units); recurrence (3, units, units); the recurrence's bias of gate h
// (units), optional. Gives h.
// nn.gru_gates, where the reset comes before the product of gate h: projected (batch, 2, units) of
// z and r; h; recurrence (2, units, units). Gives z and r * h.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Buffer;
using loop::Expr;

constexpr char kLstmCell[] = "nn.lstm_cell";
constexpr char kGruCell[] = "nn.gru_cell";
constexpr char kGruGates[] = "nn.gru_gates";

using Axes = std::vector<Expr>;

Expr Sigmoid(Expr x) { return loop::Unary(loop::UnaryOp::kSigmoid, std::move(x)); }
Expr Tanh(Expr x) { return loop::Unary(loop::UnaryOp::kTanh, std::move(x)); }

struct Sizes {
  int64_t batch = 0;
  int64_t units = 0;
};

// Projected and h fix what the recurrence must be; `square`: the state has as many terms as there
// are units.
absl::StatusOr<Sizes> InferSizes(const char* op, const std::vector<ir::Type>& args, int64_t gates,
                                 size_t recurrence, bool square) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType projected, TensorOperand(op, args, 0, "projected", 3));
  if (!IsFloat(projected.dtype) || projected.shape[1] != gates) {
    return OperandError(op, "projected", fmt::format("floats of {} gates", gates),
                        projected.ToString());
  }
  const Sizes sizes = {projected.shape[0], projected.shape[2]};
  HONE_ASSIGN_OR_RETURN(const ir::TensorType h, TensorOperand(op, args, 1, "h", 2));
  const ir::TensorType state = {{sizes.batch, square ? sizes.units : h.shape[1]}, projected.dtype};
  HONE_RETURN_IF_ERROR(ExactOperand(op, args, 1, "h", state).status());
  const ir::TensorType weights = {{gates, sizes.units, state.shape[1]}, projected.dtype};
  HONE_RETURN_IF_ERROR(ExactOperand(op, args, recurrence, "recurrence", weights).status());
  return sizes;
}

ir::Type Pair(const ir::Type& type) {
  ir::Type pair;
  pair.is_tuple = true;
  pair.fields = {type, type};
  return pair;
}

absl::StatusOr<ir::Type> InferLstm(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const Sizes sizes, InferSizes(kLstmCell, args, 4, 3, false));
  const DataType dtype = args[0].tensor.dtype;
  const ir::TensorType state = {{sizes.batch, sizes.units}, dtype};
  HONE_RETURN_IF_ERROR(ExactOperand(kLstmCell, args, 2, "c", state).status());
  if (args.size() > 4) {
    const ir::TensorType peepholes = {{3, sizes.units}, dtype};
    HONE_RETURN_IF_ERROR(ExactOperand(kLstmCell, args, 4, "peepholes", peepholes).status());
  }
  return Pair(TensorOf(state.shape, dtype));
}

absl::StatusOr<ir::Type> InferGru(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const Sizes sizes, InferSizes(kGruCell, args, 3, 2, true));
  const DataType dtype = args[0].tensor.dtype;
  if (args.size() > 3) {
    HONE_RETURN_IF_ERROR(ExactOperand(kGruCell, args, 3, "bias", {{sizes.units}, dtype}).status());
  }
  return TensorOf({sizes.batch, sizes.units}, dtype);
}

absl::StatusOr<ir::Type> InferGates(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const Sizes sizes, InferSizes(kGruGates, args, 2, 2, true));
  return Pair(TensorOf({sizes.batch, sizes.units}, args[0].tensor.dtype));
}

// What the gates are made of, in the type that sums have.
class Gates {
 public:
  Gates(loop::NestBuilder& builder, const std::string& stage, const std::vector<Buffer>& args,
        const Buffer& recurrence)
      : builder_(builder), args_(args), dtype_(AccumulatorType(args[0]->dtype)) {
    const auto product = [&](const Axes& at, const Axes& r) {
      return CastTo(dtype_, loop::Load(args[1], {at[0], r[0]})) *
             CastTo(dtype_, loop::Load(recurrence, {at[1], at[2], r[0]}));
    };
    sums_ = builder.Reduce(stage + "_sums", dtype_, args[0]->shape,
                           std::vector<int64_t>{recurrence->shape[2]},
                           loop::NestBuilder::Combiner::kAdd, loop::Const(0, dtype_), product);
  }

  Expr Projected(int64_t gate, const Axes& at) const {
    return CastTo(dtype_, loop::Load(args_[0], {at[0], loop::IntConst(gate), at[1]}));
  }
  Expr Sum(int64_t gate, const Axes& at) const {
    return loop::Load(sums_, {at[0], loop::IntConst(gate), at[1]});
  }
  Expr Gate(int64_t gate, const Axes& at) const { return Projected(gate, at) + Sum(gate, at); }
  Expr Operand(size_t arg, const Axes& at) const {
    return CastTo(dtype_, loop::Load(args_[arg], at));
  }
  Expr One() const { return loop::Const(1, dtype_); }
  Expr Cast(const Expr& e) const { return CastTo(dtype_, e); }

  // A result.
  template <typename Value>
  Buffer Result(const std::string& name, const Value& value) {
    const DataType dtype = args_[0]->dtype;
    return builder_.Compute(name, dtype, {args_[0]->shape[0], args_[0]->shape[2]},
                            [&](const Axes& at) { return CastTo(dtype, value(at)); });
  }

 private:
  loop::NestBuilder& builder_;
  const std::vector<Buffer>& args_;
  const DataType dtype_;
  Buffer sums_;
};

std::vector<Buffer> DefineLstm(loop::NestBuilder& builder, const std::vector<Buffer>& args,
                               const ir::Attrs& attrs, const ir::Type& result) {
  Gates gates(builder, "lstm", args, args[3]);
  const auto look = [&](int64_t gate, const Axes& at, const Expr& c) {
    if (args.size() < 5) return gates.Gate(gate, at);
    return gates.Gate(gate, at) + c * gates.Operand(4, {loop::IntConst(gate), at[1]});
  };
  const Buffer c = gates.Result("lstm_c", [&](const Axes& at) {
    const Expr before = gates.Operand(2, at);
    return Sigmoid(look(2, at, before)) * before +
           Sigmoid(look(0, at, before)) * Tanh(gates.Gate(3, at));
  });
  const Buffer h = gates.Result("lstm_h", [&](const Axes& at) {
    const Expr now = gates.Cast(loop::Load(c, at));
    return Sigmoid(look(1, at, now)) * Tanh(now);
  });
  return {h, c};
}

std::vector<Buffer> DefineGru(loop::NestBuilder& builder, const std::vector<Buffer>& args,
                              const ir::Attrs& attrs, const ir::Type& result) {
  Gates gates(builder, "gru", args, args[2]);
  return {gates.Result("gru_h", [&](const Axes& at) {
    Expr recurred = gates.Sum(2, at);
    if (args.size() > 3) recurred = recurred + gates.Operand(3, {at[1]});
    const Expr candidate = Tanh(gates.Projected(2, at) + Sigmoid(gates.Gate(1, at)) * recurred);
    const Expr update = Sigmoid(gates.Gate(0, at));
    return (gates.One() - update) * candidate + update * gates.Operand(1, at);
  })};
}

std::vector<Buffer> DefineGates(loop::NestBuilder& builder, const std::vector<Buffer>& args,
                                const ir::Attrs& attrs, const ir::Type& result) {
  Gates gates(builder, "gru", args, args[2]);
  const Buffer update =
      gates.Result("gru_update", [&](const Axes& at) { return Sigmoid(gates.Gate(0, at)); });
  const Buffer reset = gates.Result("gru_reset", [&](const Axes& at) {
    return Sigmoid(gates.Gate(1, at)) * gates.Operand(1, at);
  });
  return {update, reset};
}

// Functions count as one operation.
double Flops(const std::vector<ir::Type>& args, size_t recurrence, double others) {
  const Shape& projected = args[0].tensor.shape;
  const auto products = static_cast<double>(projected[0] * Product(args[recurrence].tensor.shape));
  return 2 * products + others * static_cast<double>(projected[0] * projected[2]);
}

Op CellOp(const char* name, int operands, int optional, size_t recurrence, double others) {
  Op op;
  op.name = name;
  op.min_args = operands;
  op.max_args = operands + optional;
  op.kind = FuseKind::kOpaque;
  op.flops = [=](const auto& args, const auto& attrs, const auto& result) {
    return Flops(args, recurrence, others);
  };
  return op;
}

}  // namespace

void RegisterRecurrent(std::vector<Op>& table) {
  Op lstm = CellOp(kLstmCell, 4, 1, 3, 13);
  lstm.infer_type = InferLstm;
  lstm.define = DefineLstm;
  table.push_back(std::move(lstm));

  Op gru = CellOp(kGruCell, 3, 1, 2, 11);
  gru.infer_type = InferGru;
  gru.define = DefineGru;
  table.push_back(std::move(gru));

  Op gates = CellOp(kGruGates, 3, 0, 2, 5);
  gates.infer_type = InferGates;
  gates.define = DefineGates;
  table.push_back(std::move(gates));
}

}  // namespace hone::ops
