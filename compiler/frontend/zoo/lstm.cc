// One layer of LSTM (Hochreiter, Schmidhuber, 1997) over 16 steps of 128 numbers, with 128 cells:
// time first, as ONNX's LSTM has it, and unrolled into operators that ONNX has, so that it can be
// exported.
#include <cmath>

#include "compiler/frontend/onnx/recurrent_cell.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {

ir::Expr BuildLstm(NetBuilder& net) {
  const int64_t steps = net.Extent(16);
  const int64_t hidden = net.Width(128);
  const int64_t rows = GateCount(CellKind::kLstm) * hidden;
  const ir::Expr data = net.Input("data", {steps, net.batch(), hidden});
  const double bound = std::sqrt(3.0 / static_cast<double>(hidden));
  const ir::Expr weight = net.Uniform({rows, hidden}, -bound, bound);
  const ir::Expr bias = net.Uniform({rows}, -0.25, 0.25);
  Cell cell;
  cell.kind = CellKind::kLstm;
  cell.hidden = hidden;
  cell.as_operator = false;
  cell.activations = {{"sigmoid"}, {"tanh"}, {"tanh"}};
  cell.recurrence = net.Uniform({rows, hidden}, -bound, bound);

  const ir::Expr flat = net.Reshape(data, {steps * net.batch(), hidden});
  const ir::Expr projected =
      net.Reshape(net.Add(net.Call("nn.dense", {flat, weight}), bias), {steps, net.batch(), rows});
  CellState state;
  std::vector<ir::Expr> outputs;
  for (int64_t t = 0; t < steps; ++t) {
    const ir::Expr now = SliceOf(projected, 0, t, t + 1).value();
    state = Step(cell, {net.Reshape(now, {net.batch(), rows}), nullptr}, state).value();
    outputs.push_back(state.h);
  }
  return net.Reshape(ConcatenationOf(std::move(outputs), 0).value(), {steps, net.batch(), hidden});
}

}  // namespace hone::frontend
