#include "compiler/frontend/onnx/recurrent_cell.h"

#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using Value = absl::StatusOr<ir::Expr>;

Value Add(const ir::Expr& a, const ir::Expr& b) { return Emit("add", {a, b}); }
Value Multiply(const ir::Expr& a, const ir::Expr& b) { return Emit("multiply", {a, b}); }
Value OneMinus(const ir::Expr& a) { return Emit("subtract", {ScalarConstant(1, DtypeOf(a)), a}); }

class Stepper {
 public:
  Stepper(const Cell& cell, const ir::Expr& projected, const CellState& before)
      : cell_(cell), projected_(projected), before_(before) {}

  absl::StatusOr<CellState> Rnn() const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr sum, Recur(0, 1));
    HONE_ASSIGN_OR_RETURN(const ir::Expr all, Add(projected_, sum));
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, Activate(0, all));
    return CellState{h, nullptr};
  }

  absl::StatusOr<CellState> Gru() const {
    ir::Expr all;  // what the recurrence gives all gates, where the reset comes after it
    ir::Expr both;
    if (cell_.linear_before_reset) {
      HONE_ASSIGN_OR_RETURN(all, Recur(0, 3));
      HONE_ASSIGN_OR_RETURN(both, SliceOf(all, 1, 0, 2 * cell_.hidden));
    } else {
      HONE_ASSIGN_OR_RETURN(both, Recur(0, 2));
    }
    HONE_ASSIGN_OR_RETURN(const ir::Expr x, SliceOf(projected_, 1, 0, 2 * cell_.hidden));
    HONE_ASSIGN_OR_RETURN(ir::Expr gates, Add(x, both));
    HONE_ASSIGN_OR_RETURN(gates, Activate(0, gates));
    HONE_ASSIGN_OR_RETURN(const ir::Expr update, Gate(gates, 0));
    HONE_ASSIGN_OR_RETURN(const ir::Expr reset, Gate(gates, 1));
    ir::Expr recurred;
    if (cell_.linear_before_reset) {
      HONE_ASSIGN_OR_RETURN(recurred, Gate(all, 2));
      HONE_ASSIGN_OR_RETURN(recurred, Multiply(reset, recurred));
    } else {
      HONE_ASSIGN_OR_RETURN(recurred, Multiply(reset, before_.h));
      HONE_ASSIGN_OR_RETURN(recurred, Recur(2, 3, recurred));
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr candidate, Gate(projected_, 2));
    HONE_ASSIGN_OR_RETURN(candidate, Add(candidate, recurred));
    HONE_ASSIGN_OR_RETURN(candidate, Activate(1, candidate));
    HONE_ASSIGN_OR_RETURN(ir::Expr fresh, OneMinus(update));
    HONE_ASSIGN_OR_RETURN(fresh, Multiply(fresh, candidate));
    HONE_ASSIGN_OR_RETURN(const ir::Expr kept, Multiply(update, before_.h));
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, Add(fresh, kept));
    return CellState{h, nullptr};
  }

  absl::StatusOr<CellState> Lstm() const {
    HONE_ASSIGN_OR_RETURN(const ir::Expr sum, Recur(0, 4));
    HONE_ASSIGN_OR_RETURN(const ir::Expr all, Add(projected_, sum));
    HONE_ASSIGN_OR_RETURN(const ir::Expr input, LstmGate(all, 0, before_.c));
    ir::Expr forget;
    if (cell_.input_forget) {
      HONE_ASSIGN_OR_RETURN(forget, OneMinus(input));
    } else {
      HONE_ASSIGN_OR_RETURN(forget, LstmGate(all, 2, before_.c));
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr candidate, Gate(all, 3));
    HONE_ASSIGN_OR_RETURN(candidate, Activate(1, candidate));
    HONE_ASSIGN_OR_RETURN(const ir::Expr kept, Multiply(forget, before_.c));
    HONE_ASSIGN_OR_RETURN(const ir::Expr fresh, Multiply(input, candidate));
    HONE_ASSIGN_OR_RETURN(const ir::Expr c, Add(kept, fresh));
    HONE_ASSIGN_OR_RETURN(const ir::Expr output, LstmGate(all, 1, c));
    // The clip is for what comes in, not for the cell, as other runtimes have it.
    HONE_ASSIGN_OR_RETURN(const ir::Expr shown, cell_.activations[2].Apply(c));
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, Multiply(output, shown));
    return CellState{h, c};
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
      HONE_ASSIGN_OR_RETURN(look, Multiply(c, look));
      HONE_ASSIGN_OR_RETURN(gate, Add(gate, look));
    }
    return Activate(0, gate);
  }

  // `from`, or the state before, times the recurrence of gates [first, last).
  Value Recur(int64_t first, int64_t last, ir::Expr from = nullptr) const {
    if (!from) from = before_.h;
    const int64_t begin = first * cell_.hidden;
    const int64_t end = last * cell_.hidden;
    HONE_ASSIGN_OR_RETURN(const ir::Expr weight, SliceOf(cell_.recurrence, 0, begin, end));
    HONE_ASSIGN_OR_RETURN(const ir::Expr sum, Emit("nn.dense", {from, weight}));
    if (!cell_.bias) return sum;
    HONE_ASSIGN_OR_RETURN(const ir::Expr bias, SliceOf(cell_.bias, 0, begin, end));
    return Add(sum, bias);
  }

  const Cell& cell_;
  const ir::Expr& projected_;
  const CellState& before_;
};

}  // namespace

int64_t GateCount(CellKind kind) {
  return kind == CellKind::kRnn ? 1 : kind == CellKind::kGru ? 3 : 4;
}

absl::StatusOr<CellState> Step(const Cell& cell, const ir::Expr& projected,
                               const CellState& before) {
  const Stepper stepper(cell, projected, before);
  if (cell.kind == CellKind::kRnn) return stepper.Rnn();
  return cell.kind == CellKind::kGru ? stepper.Gru() : stepper.Lstm();
}

}  // namespace hone::frontend
