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
  ir::Expr recurrence;  // (gates * hidden, hidden)
  ir::Expr bias;        // (gates * hidden) of the recurrence where it is not part of the projection
  ir::Expr peepholes;   // (3 * hidden), or null
};

struct CellState {
  ir::Expr h;
  ir::Expr c;  // of LSTM alone
};

// `projected` is the input times its weights plus the biases, (batch, gates * hidden).
absl::StatusOr<CellState> Step(const Cell& cell, const ir::Expr& projected,
                               const CellState& before);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_
