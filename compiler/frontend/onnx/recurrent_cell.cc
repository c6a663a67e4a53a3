#include "compiler/frontend/onnx/recurrent_cell.h"

#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using Value = absl::StatusOr<ir::Expr>;

// A null operand stands for zeros.
Value Add(const ir::Expr& a, const ir::Expr& b) {
  if (!a || !b) return a ? a : b;
  return Emit("add", {a, b});
}
Value Times(const ir::Expr& a, const ir::Expr& b) {
  if (!a || !b) return ir::Expr();
  return Emit("multiply", {a, b});
}
Value OneMinus(const ir::Expr& a) { return Emit("subtract", {ScalarConstant(1, DtypeOf(a)), a}); }

// A step in elementwise operators and products.
class Stepper {
 public:
  Stepper(const Cell& cell, const Projected& projected, const CellState& before)
      : cell_(cell), projected_(projected), before_(before) {}

  absl::StatusOr<CellState> Rnn() const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr sum, Recur(0, 1, before_.h));
    HONE_ASSIGN_OR_RETURN(const ir::Expr all, Add(projected_.gates, sum));
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, Activate(0, all));
    return CellState{h, nullptr};
  }

  absl::StatusOr<CellState> Gru() const {
    ir::Expr candidate = projected_.candidate;
    ir::Expr x = projected_.gates;
    if (!candidate) {
      HONE_ASSIGN_OR_RETURN(candidate, Gate(projected_.gates, 2));
      HONE_ASSIGN_OR_RETURN(x, SliceOf(projected_.gates, 1, 0, 2 * cell_.hidden));
    }
    HONE_ASSIGN_OR_RETURN(const ir::Expr both, Recur(0, 2, before_.h));
    HONE_ASSIGN_OR_RETURN(ir::Expr gates, Add(x, both));
    HONE_ASSIGN_OR_RETURN(gates, Activate(0, gates));
    HONE_ASSIGN_OR_RETURN(const ir::Expr update, Gate(gates, 0));
    HONE_ASSIGN_OR_RETURN(const ir::Expr reset, Gate(gates, 1));
    ir::Expr recurred;
    if (cell_.linear_before_reset) {
      HONE_ASSIGN_OR_RETURN(recurred, Recur(2, 3, before_.h));
      HONE_ASSIGN_OR_RETURN(recurred, Times(reset, recurred));
    } else {
      HONE_ASSIGN_OR_RETURN(recurred, Times(reset, before_.h));
      HONE_ASSIGN_OR_RETURN(recurred, Recur(2, 3, recurred));
    }
    return Mix(update, candidate, recurred);
  }

  absl::StatusOr<CellState> Lstm() const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr sum, Recur(0, 4, before_.h));
    HONE_ASSIGN_OR_RETURN(const ir::Expr all, Add(projected_.gates, sum));
    HONE_ASSIGN_OR_RETURN(const ir::Expr input, LstmGate(all, 0, before_.c));
    ir::Expr forget;
    if (cell_.input_forget) {
      HONE_ASSIGN_OR_RETURN(forget, OneMinus(input));
    } else {
      HONE_ASSIGN_OR_RETURN(forget, LstmGate(all, 2, before_.c));
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr candidate, Gate(all, 3));
    HONE_ASSIGN_OR_RETURN(candidate, Activate(1, candidate));
    HONE_ASSIGN_OR_RETURN(const ir::Expr kept, Times(forget, before_.c));
    HONE_ASSIGN_OR_RETURN(const ir::Expr fresh, Times(input, candidate));
    HONE_ASSIGN_OR_RETURN(const ir::Expr c, Add(kept, fresh));
    HONE_ASSIGN_OR_RETURN(const ir::Expr output, LstmGate(all, 1, c));
    // The clip is for what comes in, not for the cell, as other runtimes have it.
    HONE_ASSIGN_OR_RETURN(const ir::Expr shown, cell_.activations[2].Apply(c));
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, Times(output, shown));
    return CellState{h, c};
  }

  // What comes behind the gates of a GRU.
  absl::StatusOr<CellState> Mix(const ir::Expr& update, ir::Expr candidate,
                                const ir::Expr& recurred) const {
    HONE_ASSIGN_OR_RETURN(candidate, Add(candidate, recurred));
    HONE_ASSIGN_OR_RETURN(candidate, Activate(1, candidate));
    HONE_ASSIGN_OR_RETURN(ir::Expr fresh, OneMinus(update));
    HONE_ASSIGN_OR_RETURN(fresh, Times(fresh, candidate));
    HONE_ASSIGN_OR_RETURN(const ir::Expr kept, Times(update, before_.h));
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, Add(fresh, kept));
    return CellState{h, nullptr};
  }

  // `from` times the recurrence of gates [first, last), plus the bias.
  Value Recur(int64_t first, int64_t last, const ir::Expr& from) const {
    const int64_t begin = first * cell_.hidden;
    const int64_t end = last * cell_.hidden;
    ir::Expr sum;
    if (from) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr weight, SliceOf(cell_.recurrence, 0, begin, end));
      HONE_ASSIGN_OR_RETURN(sum, Emit("nn.dense", {from, weight}));
    }
    constexpr int64_t kCandidate = 2;
    return first == kCandidate ? Add(sum, cell_.bias) : sum;
  }

 private:
  Value Gate(const ir::Expr& gates, int64_t i) const {
    return SliceOf(gates, 1, i * cell_.hidden, (i + 1) * cell_.hidden);
  }

  Value Activate(size_t function, ir::Expr x) const {
    if (cell_.clip) {
      HONE_ASSIGN_OR_RETURN(x,
                            Emit("clip", {x}, {{"a_min", -*cell_.clip}, {"a_max", *cell_.clip}}));
    }
    return cell_.activations[function].Apply(x);
  }

  // Gate `i` of i, o, f with its look at the cell; the peepholes are in the same order.
  Value LstmGate(const ir::Expr& all, int64_t i, const ir::Expr& c) const {
    HONE_ASSIGN_OR_RETURN(ir::Expr gate, Gate(all, i));
    if (cell_.peepholes) {
      HONE_ASSIGN_OR_RETURN(ir::Expr look,
                            SliceOf(cell_.peepholes, 0, i * cell_.hidden, (i + 1) * cell_.hidden));
      HONE_ASSIGN_OR_RETURN(look, Times(c, look));
      HONE_ASSIGN_OR_RETURN(gate, Add(gate, look));
    }
    return Activate(0, gate);
  }

  const Cell& cell_;
  const Projected& projected_;
  const CellState& before_;
};

// The same as calls of the cells' operators. All operands are there.
class FusedCell {
 public:
  FusedCell(const Cell& cell, const Projected& projected, const CellState& before)
      : cell_(cell), projected_(projected), before_(before) {}

  absl::StatusOr<CellState> Lstm() const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr gates, ByGate(projected_.gates, 1));
    HONE_ASSIGN_OR_RETURN(const ir::Expr weights, ByGate(cell_.recurrence, 0));
    std::vector<ir::Expr> args = {gates, before_.h, before_.c, weights};
    if (cell_.peepholes) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr peepholes,
                            ReshapedTo(cell_.peepholes, {3, cell_.hidden}));
      args.push_back(peepholes);
    }
    HONE_ASSIGN_OR_RETURN(const ir::Expr call, Emit("nn.lstm_cell", std::move(args)));
    const std::vector<ir::Expr> items = ItemsOf(call);
    return CellState{items[0], items[1]};
  }

  absl::StatusOr<CellState> Gru() const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr gates, ByGate(projected_.gates, 1));
    if (!cell_.linear_before_reset) return GruInTwo(gates);
    HONE_ASSIGN_OR_RETURN(const ir::Expr weights, ByGate(cell_.recurrence, 0));
    std::vector<ir::Expr> args = {gates, before_.h, weights};
    if (cell_.bias) args.push_back(cell_.bias);
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, Emit("nn.gru_cell", std::move(args)));
    return CellState{h, nullptr};
  }

 private:
  absl::StatusOr<CellState> GruInTwo(const ir::Expr& gates) const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr both, SliceOf(cell_.recurrence, 0, 0, 2 * cell_.hidden));
    HONE_ASSIGN_OR_RETURN(const ir::Expr weights, ByGate(both, 0));
    HONE_ASSIGN_OR_RETURN(const ir::Expr call, Emit("nn.gru_gates", {gates, before_.h, weights}));
    const std::vector<ir::Expr> items = ItemsOf(call);
    const Stepper rest(cell_, projected_, before_);
    HONE_ASSIGN_OR_RETURN(const ir::Expr recurred, rest.Recur(2, 3, items[1]));
    return rest.Mix(items[0], projected_.candidate, recurred);
  }

  // Axis `axis`, gates * hidden, becomes two.
  Value ByGate(const ir::Expr& e, size_t axis) const {
    Shape shape = ShapeOf(e);
    shape[axis] /= cell_.hidden;
    shape.insert(shape.begin() + static_cast<int64_t>(axis) + 1, cell_.hidden);
    return ReshapedTo(e, shape);
  }

  const Cell& cell_;
  const Projected& projected_;
  const CellState& before_;
};

}  // namespace

int64_t GateCount(CellKind kind) {
  return kind == CellKind::kRnn ? 1 : kind == CellKind::kGru ? 3 : 4;
}

bool HasOperator(const Cell& cell) {
  const std::vector<std::string> functions =
      cell.kind == CellKind::kLstm ? std::vector<std::string>{"sigmoid", "tanh", "tanh"}
                                   : std::vector<std::string>{"sigmoid", "tanh"};
  bool known = cell.kind != CellKind::kRnn && cell.activations.size() == functions.size();
  for (size_t i = 0; known && i < functions.size(); ++i) {
    known = cell.activations[i].name == functions[i];
  }
  return known && !cell.clip && !cell.input_forget &&
         DtypeOf(cell.recurrence) == DataType::kFloat32;
}

absl::StatusOr<CellState> Step(const Cell& cell, const Projected& projected,
                               const CellState& before) {
  if (before.h && cell.as_operator && HasOperator(cell)) {
    const FusedCell fused(cell, projected, before);
    return cell.kind == CellKind::kGru ? fused.Gru() : fused.Lstm();
  }
  const Stepper stepper(cell, projected, before);
  if (cell.kind == CellKind::kRnn) return stepper.Rnn();
  return cell.kind == CellKind::kGru ? stepper.Gru() : stepper.Lstm();
}

}  // namespace hone::frontend
