// RNN, GRU, LSTM: the input's products with its weights are one matrix multiplication for all
// steps, then a step is an operator of the cell (recurrent_cell.h), or the recurrence and what is
// elementwise behind it. Few steps are written out, more are a repeat.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/integer_product.h"
#include "compiler/frontend/onnx/recurrent.h"
#include "compiler/frontend/onnx/recurrent_cell.h"
#include "compiler/frontend/onnx/repeat_builder.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<ir::Expr> SwapFirstAxes(const ir::Expr& e) {
  Shape axes = {1, 0};
  for (int64_t i = 2; i < RankOf(e); ++i) axes.push_back(i);
  return Emit("transpose", {e}, {{"axes", axes}});
}

// One recurrent node: operands in time-major layout, whatever the node's own is.
class Recurrent {
 public:
  Recurrent(NodeReader& node, CellKind kind, bool quantizes_state = false)
      : node_(node), kind_(kind), quantizes_state_(quantizes_state) {}

  Results Run() {
    HONE_RETURN_IF_ERROR(ReadAttributes());
    HONE_RETURN_IF_ERROR(ReadOperands());
    const bool is_short = steps_ <= kMostShortTrips || node_.repeats() == nullptr;
    Results made = is_short ? Unrolled() : node_.Try([&] { return Repeated(); });
    if (!is_short && absl::IsUnimplemented(made.status())) made = Unrolled();
    HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> results, std::move(made));
    if (batch_first_) {
      HONE_ASSIGN_OR_RETURN(results[0],
                            Emit("transpose", {results[0]}, {{"axes", Shape{2, 0, 1, 3}}}));
      for (size_t i = 1; i < results.size(); ++i) {
        HONE_ASSIGN_OR_RETURN(results[i], SwapFirstAxes(results[i]));
      }
    }
    return results;
  }

 private:
  static constexpr int64_t kNodesOfAStep = 4;

  // Y, Y_h and of LSTM Y_c.
  Results Unrolled() {
    if (steps_ > kMostUnrolledTrips) {
      return absl::UnimplementedError(
          fmt::format("sequences of at most {} steps were expected in a loop, where they are "
                      "unrolled, found {}",
                      kMostUnrolledTrips, steps_));
    }
    HONE_RETURN_IF_ERROR(node_.Unroll(directions_ * steps_ * kNodesOfAStep));
    std::vector<ir::Expr> sequences(steps_ * directions_);
    std::vector<CellState> last;
    for (int64_t d = 0; d < directions_; ++d) {
      HONE_ASSIGN_OR_RETURN(CellState state, RunDirection(d, &sequences));
      last.push_back(std::move(state));
    }
    HONE_ASSIGN_OR_RETURN(const ir::Expr all, ConcatenationOf(std::move(sequences), 0));
    HONE_ASSIGN_OR_RETURN(const ir::Expr y,
                          ReshapedTo(all, {steps_, directions_, batch_, hidden_}));
    return WithLast(y, last);
  }

  // All directions take a step in a trip.
  Results Repeated() {
    HONE_RETURN_IF_ERROR(node_.Unroll(directions_ * kNodesOfAStep));
    RepeatBuilder repeat(steps_);
    std::vector<CellState> before(directions_);
    for (int64_t d = 0; d < directions_; ++d) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr h, InitialState(kInitialH, d));
      before[d].h = repeat.AddState(h);
      if (kind_ != CellKind::kLstm) continue;
      HONE_ASSIGN_OR_RETURN(const ir::Expr c, InitialState(kInitialC, d));
      before[d].c = repeat.AddState(c);
    }
    std::vector<ir::Expr> next;
    std::vector<RepeatBuilder::Stack> rows;
    for (int64_t d = 0; d < directions_; ++d) {
      HONE_ASSIGN_OR_RETURN(const Cell cell, MakeCell(d));
      HONE_ASSIGN_OR_RETURN(const Projected projected, Project(cell, d));
      Projected now{repeat.AddSlice(projected.gates, IsBackwards(d)), nullptr};
      if (projected.candidate) {
        now.candidate = repeat.AddSlice(projected.candidate, IsBackwards(d));
      }
      HONE_ASSIGN_OR_RETURN(ir::Expr alive, AliveInAllSteps());
      if (alive) alive = repeat.AddSlice(alive, IsBackwards(d));
      HONE_ASSIGN_OR_RETURN(const Stepped stepped, StepOf(cell, now, before[d], alive));
      next.push_back(stepped.state.h);
      if (stepped.state.c) next.push_back(stepped.state.c);
      rows.push_back({stepped.y, IsBackwards(d)});
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> results,
                          std::move(repeat).Finish(next, rows, node_.repeats()));
    std::vector<CellState> last(directions_);
    std::vector<ir::Expr> sequences;
    auto result = results.begin();
    for (CellState& state : last) {
      state.h = *result++;
      if (kind_ == CellKind::kLstm) state.c = *result++;
    }
    for (int64_t d = 0; d < directions_; ++d) {
      HONE_ASSIGN_OR_RETURN(ir::Expr y, ReshapedTo(*result++, {steps_, 1, batch_, hidden_}));
      sequences.push_back(std::move(y));
    }
    HONE_ASSIGN_OR_RETURN(const ir::Expr y, ConcatenationOf(std::move(sequences), 1));
    return WithLast(y, last);
  }

  // With the states that the directions end in.
  Results WithLast(const ir::Expr& y, const std::vector<CellState>& last) const {
    std::vector<ir::Expr> h;
    std::vector<ir::Expr> c;
    for (const CellState& state : last) {
      HONE_ASSIGN_OR_RETURN(ir::Expr e, ReshapedTo(state.h, {1, batch_, hidden_}));
      h.push_back(std::move(e));
      if (!state.c) continue;
      HONE_ASSIGN_OR_RETURN(e, ReshapedTo(state.c, {1, batch_, hidden_}));
      c.push_back(std::move(e));
    }
    std::vector<ir::Expr> results = {y};
    for (std::vector<ir::Expr>* parts : {&h, &c}) {
      if (parts->empty()) continue;
      HONE_ASSIGN_OR_RETURN(ir::Expr joined, ConcatenationOf(std::move(*parts), 0));
      results.push_back(std::move(joined));
    }
    return results;
  }

  absl::Status ReadAttributes() {
    HONE_ASSIGN_OR_RETURN(direction_, node_.String("direction", "forward"));
    if (direction_ != "forward" && direction_ != "reverse" && direction_ != "bidirectional") {
      return absl::InvalidArgumentError(fmt::format(
          "direction was expected to be forward, reverse or bidirectional, found {}", direction_));
    }
    directions_ = direction_ == "bidirectional" ? 2 : 1;
    const std::vector<std::string> defaults =
        kind_ == CellKind::kRnn   ? std::vector<std::string>{"Tanh"}
        : kind_ == CellKind::kGru ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                  : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    HONE_ASSIGN_OR_RETURN(activations_, ReadActivations(node_, defaults, directions_));
    if (node_.HasAttr("clip")) {
      HONE_ASSIGN_OR_RETURN(const double clip, node_.Float("clip", 0));
      if (clip > 0) clip_ = clip;
    }
    HONE_ASSIGN_OR_RETURN(const int64_t layout, node_.Int("layout", 0));
    batch_first_ = layout != 0;
    HONE_RETURN_IF_ERROR(node_.Int("output_sequence", 0).status());  // outputs are there if named
    if (kind_ == CellKind::kGru) {
      HONE_ASSIGN_OR_RETURN(const int64_t before, node_.Int("linear_before_reset", 0));
      linear_before_reset_ = before != 0;
    }
    if (kind_ == CellKind::kLstm) {
      HONE_ASSIGN_OR_RETURN(const int64_t coupled, node_.Int("input_forget", 0));
      input_forget_ = coupled != 0;
    }
    return absl::OkStatus();
  }

  absl::Status ReadOperands() {
    HONE_ASSIGN_OR_RETURN(data_, node_.Arg(0, "X"));
    HONE_ASSIGN_OR_RETURN(weights_, node_.Arg(1, "W"));
    HONE_ASSIGN_OR_RETURN(recurrences_, node_.Arg(2, "R"));
    if (RankOf(data_) != 3 || RankOf(recurrences_) != 3) {
      return absl::InvalidArgumentError(
          fmt::format("X and R of rank 3 were expected, found {} and {}", data_->type->ToString(),
                      recurrences_->type->ToString()));
    }
    if (batch_first_) {
      HONE_ASSIGN_OR_RETURN(data_, SwapFirstAxes(data_));
    }
    steps_ = ShapeOf(data_)[0];
    batch_ = ShapeOf(data_)[1];
    hidden_ = ShapeOf(recurrences_)[2];
    HONE_ASSIGN_OR_RETURN(const int64_t hidden, node_.Int("hidden_size", hidden_));
    if (hidden != hidden_) {
      return absl::InvalidArgumentError(
          fmt::format("hidden_size is {}, but R is {}", hidden, recurrences_->type->ToString()));
    }
    if (steps_ < 1) {
      return absl::UnimplementedError(
          fmt::format("sequences of at least one step were expected, found {}", steps_));
    }
    const int64_t rows = GateCount(kind_) * hidden_;
    HONE_RETURN_IF_ERROR(Check(weights_, "W", {directions_, rows, ShapeOf(data_)[2]}));
    HONE_RETURN_IF_ERROR(Check(recurrences_, "R", {directions_, rows, hidden_}));
    if (node_.Has(3)) HONE_RETURN_IF_ERROR(Check(node_.args()[3], "B", {directions_, 2 * rows}));
    if (node_.Has(4)) HONE_RETURN_IF_ERROR(Check(node_.args()[4], "sequence_lens", {batch_}));
    for (size_t i = 5; i < 7; ++i) {
      const bool used = i == 5 || kind_ == CellKind::kLstm;
      if (!used || !node_.Has(i)) continue;
      HONE_RETURN_IF_ERROR(Check(node_.args()[i], i == 5 ? "initial_h" : "initial_c",
                                 batch_first_ ? Shape{batch_, directions_, hidden_}
                                              : Shape{directions_, batch_, hidden_}));
    }
    if (kind_ == CellKind::kLstm && node_.Has(7)) {
      HONE_RETURN_IF_ERROR(Check(node_.args()[7], "P", {directions_, 3 * hidden_}));
    }
    return absl::OkStatus();
  }

  static absl::Status Check(const ir::Expr& e, const char* what, const Shape& shape) {
    if (ShapeOf(e) == shape) return absl::OkStatus();
    const ir::TensorType expected = {shape, DtypeOf(e)};
    return absl::InvalidArgumentError(fmt::format("{} was expected to be {}, found {}", what,
                                                  expected.ToString(), e->type->ToString()));
  }

  // Entry `d` of the direction axis, without that axis.
  static absl::StatusOr<ir::Expr> OfDirection(const ir::Expr& e, int64_t d, int64_t axis = 0) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr slice, SliceOf(e, axis, d, d + 1));
    Shape shape = ShapeOf(slice);
    shape.erase(shape.begin() + axis);
    return ReshapedTo(slice, shape);
  }

  // Null, zeros, where the node has none.
  absl::StatusOr<CellState> InitialState(int64_t d) const {
    CellState state;
    const bool has_c = kind_ == CellKind::kLstm && node_.Has(kInitialC);
    if (!node_.Has(kInitialH) && !has_c) return state;
    HONE_ASSIGN_OR_RETURN(state.h, InitialState(kInitialH, d));
    if (kind_ == CellKind::kLstm) {
      HONE_ASSIGN_OR_RETURN(state.c, InitialState(kInitialC, d));
    }
    return state;
  }

  absl::StatusOr<ir::Expr> InitialState(size_t operand, int64_t d) const {
    if (node_.Has(operand)) return OfDirection(node_.args()[operand], d, batch_first_ ? 1 : 0);
    const Shape shape = {batch_, hidden_};
    HONE_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(shape, DtypeOf(data_)));
    HONE_RETURN_IF_ERROR(node_.Generate(bytes));
    return ScalarConstant(0, DtypeOf(data_), shape);
  }

  absl::StatusOr<Cell> MakeCell(int64_t d) const {
    Cell cell;
    cell.kind = kind_;
    cell.hidden = hidden_;
    const auto functions = static_cast<int64_t>(activations_.size()) / directions_;
    cell.activations.assign(activations_.begin() + d * functions,
                            activations_.begin() + (d + 1) * functions);
    cell.clip = clip_;
    cell.linear_before_reset = linear_before_reset_;
    cell.input_forget = input_forget_;
    HONE_ASSIGN_OR_RETURN(cell.recurrence, OfDirection(recurrences_, d));
    if (kind_ == CellKind::kLstm && node_.Has(7)) {
      HONE_ASSIGN_OR_RETURN(cell.peepholes, OfDirection(node_.args()[7], d));
    }
    if (node_.Has(3) && kind_ == CellKind::kGru && linear_before_reset_) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr bias, OfDirection(node_.args()[3], d));
      HONE_ASSIGN_OR_RETURN(cell.bias, SliceOf(bias, 0, 5 * hidden_, 6 * hidden_));
    }
    return cell;
  }

  // (gates * hidden): both biases; that of the recurrence of a GRU's gate h stays with it where the
  // reset comes in between.
  absl::StatusOr<ir::Expr> Bias(int64_t d) const {
    const int64_t rows = GateCount(kind_) * hidden_;
    HONE_ASSIGN_OR_RETURN(const ir::Expr both, OfDirection(node_.args()[3], d));
    HONE_ASSIGN_OR_RETURN(const ir::Expr first, SliceOf(both, 0, 0, rows));
    HONE_ASSIGN_OR_RETURN(ir::Expr second, SliceOf(both, 0, rows, 2 * rows));
    if (kind_ == CellKind::kGru && linear_before_reset_) {
      HONE_ASSIGN_OR_RETURN(second, SliceOf(second, 0, 0, 2 * hidden_));
      HONE_ASSIGN_OR_RETURN(
          second, ConcatenationOf({second, ScalarConstant(0, DtypeOf(second), {hidden_})}, 0));
    }
    return Emit("add", {first, second});
  }

  // (steps, batch, (end - begin) * hidden): the input of all steps times the weights of gates
  // [begin, end), plus the biases.
  absl::StatusOr<ir::Expr> Project(int64_t d, int64_t begin, int64_t end) const {
    HONE_ASSIGN_OR_RETURN(ir::Expr weight, OfDirection(weights_, d));
    HONE_ASSIGN_OR_RETURN(weight, SliceOf(weight, 0, begin * hidden_, end * hidden_));
    HONE_ASSIGN_OR_RETURN(const ir::Expr flat,
                          ReshapedTo(data_, {steps_ * batch_, ShapeOf(data_)[2]}));
    HONE_ASSIGN_OR_RETURN(ir::Expr sum, Emit("nn.dense", {flat, weight}));
    if (node_.Has(3)) {
      HONE_ASSIGN_OR_RETURN(ir::Expr bias, Bias(d));
      HONE_ASSIGN_OR_RETURN(bias, SliceOf(bias, 0, begin * hidden_, end * hidden_));
      HONE_ASSIGN_OR_RETURN(sum, Emit("add", {sum, bias}));
    }
    return ReshapedTo(sum, {steps_, batch_, (end - begin) * hidden_});
  }

  absl::StatusOr<Projected> Project(const Cell& cell, int64_t d) const {
    Projected projected;
    const int64_t apart = HasCandidate(cell) ? 1 : 0;
    const int64_t gates = GateCount(kind_);
    HONE_ASSIGN_OR_RETURN(projected.gates, Project(d, 0, gates - apart));
    if (apart > 0) {
      HONE_ASSIGN_OR_RETURN(projected.candidate, Project(d, gates - 1, gates));
    }
    return projected;
  }

  static absl::StatusOr<Projected> AtStep(const Projected& projected, int64_t t) {
    Projected now;
    HONE_ASSIGN_OR_RETURN(now.gates, OfDirection(projected.gates, t));
    if (projected.candidate) {
      HONE_ASSIGN_OR_RETURN(now.candidate, OfDirection(projected.candidate, t));
    }
    return now;
  }

  // The state as the next step's product sees it.
  absl::StatusOr<CellState> Seen(const CellState& state) const {
    if (!quantizes_state_ || !state.h) return state;
    HONE_ASSIGN_OR_RETURN(const ir::Expr h, RoundedRows(state.h));
    return CellState{h, state.c};
  }

  // Whether each sequence of the batch has a step `t`; null where all have.
  absl::StatusOr<ir::Expr> Alive(int64_t t) const {
    if (!node_.Has(4)) return ir::Expr();
    HONE_ASSIGN_OR_RETURN(const ir::Expr lengths, ReshapedTo(node_.args()[4], {batch_, 1}));
    return Emit("greater", {lengths, ScalarConstant(static_cast<double>(t), DtypeOf(lengths))});
  }

  // `otherwise` may be null, zeros.
  static absl::StatusOr<ir::Expr> Choose(const ir::Expr& alive, const ir::Expr& then,
                                         const ir::Expr& otherwise) {
    if (!alive) return then;
    return Emit("where", {alive, then, otherwise ? otherwise : ScalarConstant(0, DtypeOf(then))});
  }

  // The same of all steps, (steps, batch, 1).
  absl::StatusOr<ir::Expr> AliveInAllSteps() const {
    if (!node_.Has(4)) return ir::Expr();
    HONE_RETURN_IF_ERROR(node_.Generate(steps_ * static_cast<int64_t>(sizeof(int32_t))));
    std::vector<int32_t> numbers(steps_);
    std::iota(numbers.begin(), numbers.end(), 0);
    const ir::Expr steps =
        ir::ConstantFromBytes({{steps_, 1, 1}, DataType::kInt32}, numbers.data());
    HONE_ASSIGN_OR_RETURN(const ir::Expr lengths, ReshapedTo(node_.args()[4], {1, batch_, 1}));
    HONE_ASSIGN_OR_RETURN(const ir::Expr casted, CastedTo(steps, DtypeOf(lengths)));
    return Emit("greater", {lengths, casted});
  }

  struct Stepped {
    CellState state;
    ir::Expr y;
  };
  // `alive` may be null.
  absl::StatusOr<Stepped> StepOf(const Cell& cell, const Projected& now, const CellState& before,
                                 const ir::Expr& alive) const {
    HONE_ASSIGN_OR_RETURN(const CellState seen, Seen(before));
    HONE_ASSIGN_OR_RETURN(const CellState after, Step(cell, now, seen));
    Stepped stepped;
    HONE_ASSIGN_OR_RETURN(stepped.y, Choose(alive, after.h, nullptr));
    HONE_ASSIGN_OR_RETURN(stepped.state.h, Choose(alive, after.h, before.h));
    if (after.c) {
      HONE_ASSIGN_OR_RETURN(stepped.state.c, Choose(alive, after.c, before.c));
    }
    return stepped;
  }

  bool IsBackwards(int64_t d) const { return direction_ == "reverse" || d == 1; }

  // The last state. `sequences` gets h of each step, and of the directions of each step, (batch,
  // hidden).
  absl::StatusOr<CellState> RunDirection(int64_t d, std::vector<ir::Expr>* sequences) const {
    HONE_ASSIGN_OR_RETURN(const Cell cell, MakeCell(d));
    HONE_ASSIGN_OR_RETURN(const Projected projected, Project(cell, d));
    HONE_ASSIGN_OR_RETURN(CellState state, InitialState(d));
    for (int64_t i = 0; i < steps_; ++i) {
      const int64_t t = IsBackwards(d) ? steps_ - 1 - i : i;
      HONE_ASSIGN_OR_RETURN(const Projected now, AtStep(projected, t));
      HONE_ASSIGN_OR_RETURN(const ir::Expr alive, Alive(t));
      HONE_ASSIGN_OR_RETURN(Stepped stepped, StepOf(cell, now, state, alive));
      (*sequences)[t * directions_ + d] = std::move(stepped.y);
      state = std::move(stepped.state);
    }
    return state;
  }

  static constexpr size_t kInitialH = 5;
  static constexpr size_t kInitialC = 6;

  NodeReader& node_;
  const CellKind kind_;
  const bool quantizes_state_;
  std::string direction_;
  int64_t directions_ = 1;
  std::vector<Activation> activations_;
  std::optional<double> clip_;
  bool batch_first_ = false;
  bool linear_before_reset_ = false;
  bool input_forget_ = false;
  ir::Expr data_;
  ir::Expr weights_;
  ir::Expr recurrences_;
  int64_t steps_ = 0;
  int64_t batch_ = 0;
  int64_t hidden_ = 0;
};

}  // namespace

Results ConvertLstmOfBytes(NodeReader& node) {
  return Recurrent(node, CellKind::kLstm, /*quantizes_state=*/true).Run();
}

void AddRecurrentConverters(ConverterTable& table) {
  table["RNN"] = [](NodeReader& node) { return Recurrent(node, CellKind::kRnn).Run(); };
  table["GRU"] = [](NodeReader& node) { return Recurrent(node, CellKind::kGru).Run(); };
  table["LSTM"] = [](NodeReader& node) { return Recurrent(node, CellKind::kLstm).Run(); };
}

}  // namespace hone::frontend
