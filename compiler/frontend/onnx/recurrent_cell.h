// One step of ONNX's recurrent operators.
#ifndef HONE_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_
#define HONE_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/activation.h"
#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {

enum class CellKind { kRnn, kGru, kLstm };

// The gates a cell's weights hold one after the other: i (RNN); z, r, h (GRU); i, o, f, c (LSTM).
int64_t GateCount(CellKind kind);

// The parameters of one direction.
struct Cell {
  CellKind kind = CellKind::kRnn;
  int64_t hidden = 0;
  std::vector<Activation> activations;  // f, g, h
  std::optional<double> clip;
  bool linear_before_reset = false;
  bool input_forget = false;
  bool as_operator = true;  // use the operator of HasOperator; if not, only what ONNX can express
  ir::Expr recurrence;      // (gates * hidden, hidden)
  ir::Expr bias;       // (hidden): of the recurrence of gate h, if linear_before_reset; or null
  ir::Expr peepholes;  // (3 * hidden), or null
};

// Whether a step of the cell can use one of the operators nn.lstm_cell, nn.gru_cell and
// nn.gru_gates: the cell is of float32, has the activations that these have, and neither clip nor
// input_forget.
bool HasOperator(const Cell& cell);

// The state between two steps. A null member stands for zeros.
struct CellState {
  ir::Expr h;
  ir::Expr c;  // only of an LSTM, where it is null only if `h` is
};

// The input times its weights plus the biases, (batch, gates * hidden).
struct Projected {
  ir::Expr gates;
  // Gate h of a GRU without linear_before_reset, (batch, hidden), which `gates` then lacks; or
  // null.
  ir::Expr candidate;
};
inline bool HasCandidate(const Cell& cell) {
  return cell.kind == CellKind::kGru && !cell.linear_before_reset;
}

absl::StatusOr<CellState> Step(const Cell& cell, const Projected& projected,
                               const CellState& before);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_
