#include "compiler/frontend/onnx/control_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/node_cost.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/sequence.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr int64_t kMostTrips = 1024;

absl::StatusOr<const OnnxGraph*> Graph(NodeReader& node, const std::string& name) {
  const OnnxAttr* const attr = node.Raw(name);
  const auto* const subgraph = attr == nullptr ? nullptr : std::get_if<OnnxSubgraph>(attr);
  if (subgraph != nullptr && subgraph->graph) return subgraph->graph.get();
  return absl::InvalidArgumentError(fmt::format("attribute {} was expected to be a graph", name));
}

absl::Status CheckTensors(const std::vector<ir::Expr>& values) {
  for (const ir::Expr& e : values) {
    if (!e->type->IsTensor()) {
      return absl::InvalidArgumentError("tensors were expected of its body, found a sequence");
    }
  }
  return absl::OkStatus();
}

// The outputs of a graph within `around` on these inputs; `place` tells trips of a loop apart.
Results RunGraph(const OnnxGraph& graph, const NodeScope& around,
                 const std::vector<ir::Expr>& inputs, const std::string& place = "") {
  if (inputs.size() != graph.inputs.size()) {
    return absl::InvalidArgumentError(fmt::format("its graph has {} inputs, and is given {}",
                                                  graph.inputs.size(), inputs.size()));
  }
  NodeScope scope(&around, place);
  for (const auto& [name, value] : graph.sparse_initializers) {
    HONE_RETURN_IF_ERROR(scope.DefineSparse(name, value));
  }
  for (const auto& [name, value] : graph.initializers) {
    HONE_RETURN_IF_ERROR(scope.Define(name, value));
  }
  for (const std::string& name : graph.four_bit) scope.SetTrait(name, Trait::kFourBit);
  for (size_t i = 0; i < inputs.size(); ++i) {
    HONE_RETURN_IF_ERROR(scope.Define(graph.inputs[i], inputs[i]));
  }
  HONE_RETURN_IF_ERROR(scope.Convert(graph.nodes));
  for (const std::string& output : graph.outputs) {
    if (!scope.Has(output, Trait::kFourBit) && !scope.Has(output, Trait::kBounded)) continue;
    return absl::UnimplementedError(fmt::format(
        "\"{}\", an output of its graph, is of {}, which Hone has within a graph only", output,
        scope.Has(output, Trait::kFourBit) ? "4-bit integers" : "rows whose number is not known"));
  }
  return scope.Outputs(graph.outputs);
}

// Of the trip of a loop.
std::string PlaceOf(const NodeReader& node, int64_t trip) {
  return fmt::format("{}[{}]/", FirstResult(node.node()), trip);
}

absl::StatusOr<bool> KnownCondition(const ir::Expr& e) {
  HONE_RETURN_IF_ERROR(CheckTensors({e}));
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(e, "the condition"));
  if (numbers.size() == 1) return numbers[0] != 0;
  return absl::InvalidArgumentError("the condition was expected to be one bool");
}

// Whether the graph inputs that decide the condition have values at hand: then one branch is
// enough.
bool IsAtHand(const ir::Expr& condition, const NodeScope& scope) {
  bool reads_inputs = false;
  for (const ir::Expr& e : ir::PostOrder(condition)) {
    if (e->kind != ir::ExprKind::kVar) continue;
    if (!scope.state().small_values.contains(e->name)) return false;
    reads_inputs = true;
  }
  return reads_inputs;
}

// A branch that may be taken or not at run time. One that cannot be compiled does not matter where
// it is never taken: the condition's value would tell.
Results BranchAtRunTime(const ir::Expr& condition, std::string_view name, const OnnxGraph& graph,
                        const NodeScope& scope) {
  Results results = RunGraph(graph, scope, {});
  if (results.ok()) return results;
  return NeedsValue(condition,
                    fmt::format("its condition is computed at run time, and its {} cannot be "
                                "compiled for these inputs ({})",
                                name, std::string(results.status().message())));
}

Results If(NodeReader& node, const NodeScope& scope) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr condition, node.Arg(0, "cond"));
  HONE_ASSIGN_OR_RETURN(const OnnxGraph* const then, Graph(node, "then_branch"));
  HONE_ASSIGN_OR_RETURN(const OnnxGraph* const otherwise, Graph(node, "else_branch"));
  if (const absl::StatusOr<ir::Expr> known = ConstantOf(condition); known.ok()) {
    HONE_ASSIGN_OR_RETURN(const bool holds, KnownCondition(*known));
    return RunGraph(holds ? *then : *otherwise, scope, {});
  }
  if (IsAtHand(condition, scope)) return NeedsValue(condition, "its condition is at hand");
  HONE_ASSIGN_OR_RETURN(const auto a, BranchAtRunTime(condition, "then_branch", *then, scope));
  HONE_ASSIGN_OR_RETURN(const auto b, BranchAtRunTime(condition, "else_branch", *otherwise, scope));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scalar, ReshapedTo(condition, {}));
  std::vector<ir::Expr> results;
  for (size_t i = 0; i < a.size(); ++i) {
    if (i >= b.size() || !a[i]->type->IsTensor() || !(*a[i]->type == *b[i]->type)) {
      return NeedsValue(
          condition,
          "its condition is computed at run time and its branches differ in type; Hone compiles "
          "static shapes");
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr e, Emit("where", {scalar, a[i], b[i]}));
    results.push_back(std::move(e));
  }
  return results;
}

// What the trips of a loop give one after the other, along a new axis.
Results Stack(const std::vector<std::vector<ir::Expr>>& columns, const Shape& axes) {
  std::vector<ir::Expr> results;
  for (size_t i = 0; i < columns.size(); ++i) {
    HONE_RETURN_IF_ERROR(CheckTensors(columns[i]));
    std::vector<ir::Expr> parts;
    for (const ir::Expr& e : columns[i]) {
      HONE_ASSIGN_OR_RETURN(ir::Expr part, Emit("expand_dims", {e}, {{"axis", axes[i]}}));
      parts.push_back(std::move(part));
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr stacked, ConcatenationOf(std::move(parts), axes[i]));
    results.push_back(std::move(stacked));
  }
  return results;
}

class LoopUnroller {
 public:
  LoopUnroller(NodeReader& node, const NodeScope& scope) : node_(node), scope_(scope) {}

  Results Run() {
    HONE_ASSIGN_OR_RETURN(body_, Graph(node_, "body"));
    HONE_RETURN_IF_ERROR(ReadTrips());
    std::vector<ir::Expr> carried;
    for (size_t i = 2; i < node_.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(ir::Expr e, node_.Arg(i, "v_initial"));
      carried.push_back(std::move(e));
    }
    if (body_->outputs.size() < carried.size() + 1) {
      return absl::InvalidArgumentError("its body gives fewer values than it carries");
    }
    std::vector<std::vector<ir::Expr>> scanned(body_->outputs.size() - 1 - carried.size());
    HONE_ASSIGN_OR_RETURN(bool goes_on, KnownCondition(condition_));
    int64_t trip = 0;
    for (; goes_on && trip < trips_; ++trip) {
      if (trip == kMostTrips) return TooMany();
      HONE_ASSIGN_OR_RETURN(const auto outputs, Trip(trip, carried));
      condition_ = outputs[0];
      std::copy_n(outputs.begin() + 1, carried.size(), carried.begin());
      for (size_t i = 0; i < scanned.size(); ++i) {
        scanned[i].push_back(outputs[1 + carried.size() + i]);
      }
      if (trip + 1 < trips_) {
        HONE_ASSIGN_OR_RETURN(goes_on, KnownCondition(condition_));
      }
    }
    return Finish(carried, scanned, trip);
  }

 private:
  absl::Status ReadTrips() {
    trips_ = INT64_MAX;
    if (node_.Has(0)) {
      HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(node_.args()[0], "the trip count"));
      if (numbers.size() != 1) return absl::InvalidArgumentError("one trip count was expected");
      if (numbers[0] > kMostTrips && !node_.Has(1)) return TooMany();
      trips_ = static_cast<int64_t>(std::clamp(numbers[0], 0.0, 1e18));
    }
    condition_ = node_.Has(1) ? node_.args()[1] : ScalarConstant(1, DataType::kBool);
    return absl::OkStatus();
  }

  static absl::Status TooMany() {
    return absl::UnimplementedError(
        fmt::format("loops of up to {} trips were expected, for they are unrolled", kMostTrips));
  }

  Results Trip(int64_t trip, const std::vector<ir::Expr>& carried) const {
    HONE_RETURN_IF_ERROR(node_.Unroll(CostOf(*body_)));
    std::vector<ir::Expr> inputs = {ir::ConstantFromBytes({{}, DataType::kInt64}, &trip),
                                    condition_};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    return RunGraph(*body_, scope_, inputs, PlaceOf(node_, trip));
  }

  Results Finish(std::vector<ir::Expr> carried, std::vector<std::vector<ir::Expr>> scanned,
                 int64_t trips) const {
    if (trips > 0 || scanned.empty()) {
      HONE_ASSIGN_OR_RETURN(const auto stacks, Stack(scanned, Shape(scanned.size(), 0)));
      carried.insert(carried.end(), stacks.begin(), stacks.end());
      return carried;
    }
    // Nothing was scanned: a trip that is not taken tells the types.
    HONE_ASSIGN_OR_RETURN(const auto outputs, Trip(0, carried));
    const size_t first = outputs.size() - scanned.size();
    for (size_t i = first; i < outputs.size(); ++i) {
      HONE_RETURN_IF_ERROR(CheckTensors({outputs[i]}));
      Shape shape = ShapeOf(outputs[i]);
      shape.insert(shape.begin(), 0);
      carried.push_back(ScalarConstant(0, DtypeOf(outputs[i]), shape));
    }
    return carried;
  }

  NodeReader& node_;
  const NodeScope& scope_;
  const OnnxGraph* body_ = nullptr;
  int64_t trips_ = 0;
  ir::Expr condition_;
};

class ScanUnroller {
 public:
  ScanUnroller(NodeReader& node, const NodeScope& scope) : node_(node), scope_(scope) {}

  Results Run() {
    if (node_.opset() < 9) return absl::UnimplementedError("Hone has Scan since opset 9");
    HONE_ASSIGN_OR_RETURN(body_, Graph(node_, "body"));
    HONE_RETURN_IF_ERROR(ReadAttributes());
    std::vector<ir::Expr> state(node_.args().begin(),
                                node_.args().begin() + static_cast<int64_t>(states_));
    std::vector<std::vector<ir::Expr>> scanned(body_->outputs.size() - states_);
    for (int64_t trip = 0; trip < trips_; ++trip) {
      HONE_RETURN_IF_ERROR(node_.Unroll(CostOf(*body_)));
      std::vector<ir::Expr> inputs = state;
      for (size_t i = 0; i < in_axes_.size(); ++i) {
        HONE_ASSIGN_OR_RETURN(ir::Expr e, Slice(i, trip));
        inputs.push_back(std::move(e));
      }
      HONE_ASSIGN_OR_RETURN(const auto outputs,
                            RunGraph(*body_, scope_, inputs, PlaceOf(node_, trip)));
      std::copy_n(outputs.begin(), states_, state.begin());
      for (size_t i = 0; i < scanned.size(); ++i) scanned[i].push_back(outputs[states_ + i]);
    }
    for (size_t i = 0; i < scanned.size(); ++i) {
      HONE_RETURN_IF_ERROR(CheckTensors(scanned[i]));
      if (out_backwards_[i] != 0) std::reverse(scanned[i].begin(), scanned[i].end());
      HONE_ASSIGN_OR_RETURN(out_axes_[i], AxisOf(out_axes_[i], RankOf(scanned[i][0]) + 1));
    }
    HONE_ASSIGN_OR_RETURN(const auto stacks, Stack(scanned, out_axes_));
    state.insert(state.end(), stacks.begin(), stacks.end());
    return state;
  }

 private:
  absl::Status ReadAttributes() {
    HONE_ASSIGN_OR_RETURN(const int64_t given, node_.Int("num_scan_inputs", 0));
    const auto operands = static_cast<int64_t>(node_.size());
    if (given < 1 || given > operands ||
        body_->outputs.size() < static_cast<size_t>(operands - given)) {
      return absl::InvalidArgumentError(fmt::format("{} scan inputs do not fit its body", given));
    }
    states_ = static_cast<size_t>(operands - given);
    const size_t outs = body_->outputs.size() - states_;
    const auto ins = static_cast<size_t>(given);
    HONE_ASSIGN_OR_RETURN(in_axes_, node_.Ints("scan_input_axes", Shape(ins, 0)));
    HONE_ASSIGN_OR_RETURN(in_backwards_, node_.Ints("scan_input_directions", Shape(ins, 0)));
    HONE_ASSIGN_OR_RETURN(out_axes_, node_.Ints("scan_output_axes", Shape(outs, 0)));
    HONE_ASSIGN_OR_RETURN(out_backwards_, node_.Ints("scan_output_directions", Shape(outs, 0)));
    if (in_axes_.size() != ins || in_backwards_.size() != ins || out_axes_.size() != outs ||
        out_backwards_.size() != outs) {
      return absl::InvalidArgumentError("axes and directions do not fit its inputs and outputs");
    }
    for (size_t i = 0; i < node_.size(); ++i) {
      HONE_RETURN_IF_ERROR(node_.Arg(i, "input").status());
    }
    for (size_t i = 0; i < ins; ++i) {
      const ir::Expr& e = node_.args()[states_ + i];
      HONE_ASSIGN_OR_RETURN(in_axes_[i], AxisOf(in_axes_[i], RankOf(e)));
      const int64_t extent = ShapeOf(e)[in_axes_[i]];
      if (i > 0 && extent != trips_) {
        return absl::InvalidArgumentError("its scan inputs have different lengths");
      }
      trips_ = extent;
    }
    if (trips_ >= 1 && trips_ <= kMostTrips) return absl::OkStatus();
    return absl::UnimplementedError(
        fmt::format("scans of 1 to {} trips were expected, for they are unrolled; found {}",
                    kMostTrips, trips_));
  }

  absl::StatusOr<ir::Expr> Slice(size_t input, int64_t trip) const {
    const int64_t at = in_backwards_[input] != 0 ? trips_ - 1 - trip : trip;
    const int64_t axis = in_axes_[input];
    HONE_ASSIGN_OR_RETURN(const ir::Expr slice,
                          SliceOf(node_.args()[states_ + input], axis, at, at + 1));
    Shape shape = ShapeOf(slice);
    shape.erase(shape.begin() + axis);
    return ReshapedTo(slice, shape);
  }

  NodeReader& node_;
  const NodeScope& scope_;
  const OnnxGraph* body_ = nullptr;
  size_t states_ = 0;
  int64_t trips_ = 0;
  Shape in_axes_;
  Shape in_backwards_;
  Shape out_axes_;
  Shape out_backwards_;
};

// Runs its body on each item of a sequence; of other sequences it takes the item at the same place.
Results SequenceMap(NodeReader& node, const NodeScope& scope) {
  HONE_ASSIGN_OR_RETURN(const OnnxGraph* const body, Graph(node, "body"));
  for (size_t i = 0; i < node.size(); ++i) HONE_RETURN_IF_ERROR(node.Arg(i, "input").status());
  if (node.size() == 0 || !IsSequence(node.args()[0])) {
    return absl::InvalidArgumentError("a sequence was expected as its first operand");
  }
  const size_t count = node.args()[0]->args.size();
  std::vector<std::vector<ir::Expr>> columns(body->outputs.size());
  for (size_t item = 0; item < count; ++item) {
    HONE_RETURN_IF_ERROR(node.Unroll(CostOf(*body)));
    std::vector<ir::Expr> inputs;
    for (const ir::Expr& e : node.args()) {
      if (IsSequence(e) && item >= e->args.size()) {
        return absl::InvalidArgumentError("sequences of one length were expected");
      }
      inputs.push_back(IsSequence(e) ? e->args[item] : e);
    }
    HONE_ASSIGN_OR_RETURN(const auto outputs, RunGraph(*body, scope, inputs,
                                                       PlaceOf(node, static_cast<int64_t>(item))));
    for (size_t i = 0; i < outputs.size(); ++i) columns[i].push_back(outputs[i]);
  }
  std::vector<ir::Expr> results;
  for (std::vector<ir::Expr>& column : columns) {
    HONE_RETURN_IF_ERROR(CheckTensors(column));
    HONE_ASSIGN_OR_RETURN(ir::Expr sequence, SequenceOf(node, std::move(column)));
    results.push_back(std::move(sequence));
  }
  return results;
}

}  // namespace

bool IsControlFlow(const std::string& op) {
  return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
}

absl::StatusOr<std::vector<ir::Expr>> ConvertControlFlow(NodeReader& node, const NodeScope& scope) {
  if (node.node().op == "If") return If(node, scope);
  if (node.node().op == "Loop") return LoopUnroller(node, scope).Run();
  if (node.node().op == "SequenceMap") return SequenceMap(node, scope);
  return ScanUnroller(node, scope).Run();
}

}  // namespace hone::frontend
