#include "compiler/frontend/onnx/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/frontend/onnx/node_cost.h"
#include "compiler/frontend/onnx/repeat_builder.h"
#include "compiler/frontend/onnx/subgraph.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

class ScanConverter {
 public:
  ScanConverter(NodeReader& node, const NodeScope& scope) : node_(node), scope_(scope) {}

  Results Run() {
    if (node_.opset() < 9) return absl::UnimplementedError("Hone has Scan since opset 9");
    HONE_ASSIGN_OR_RETURN(body_, SubgraphOf(node_, "body"));
    HONE_RETURN_IF_ERROR(ReadAttributes());
    if (trips_ > kMostShortTrips && node_.repeats() != nullptr) {
      Results repeated = node_.Try([&] { return Repeated(); });
      if (repeated.ok()) return repeated;
      if (trips_ > kMostUnrolledTrips) return TooMany(repeated.status());
    }
    if (trips_ > kMostUnrolledTrips) return TooMany(absl::OkStatus());
    return Unrolled();
  }

 private:
  Results Unrolled() {
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

  Results Repeated() {
    HONE_RETURN_IF_ERROR(CheckTensors(node_.args()));
    HONE_RETURN_IF_ERROR(node_.Unroll(CostOf(*body_)));
    RepeatBuilder repeat(trips_);
    std::vector<ir::Expr> inputs;
    for (size_t i = 0; i < states_; ++i) inputs.push_back(repeat.AddState(node_.args()[i]));
    for (size_t i = 0; i < in_axes_.size(); ++i) {
      Shape axes = Others(in_axes_[i], RankOf(node_.args()[states_ + i]));
      axes.insert(axes.begin(), in_axes_[i]);
      HONE_ASSIGN_OR_RETURN(const ir::Expr scanned, Transposed(node_.args()[states_ + i], axes));
      inputs.push_back(repeat.AddSlice(scanned, in_backwards_[i] != 0));
    }
    HONE_ASSIGN_OR_RETURN(const auto outputs, RunRepeated(*body_, scope_, inputs));
    HONE_RETURN_IF_ERROR(CheckTensors(outputs));
    const auto first_stack = outputs.begin() + static_cast<int64_t>(states_);
    std::vector<RepeatBuilder::Stack> stacks;
    for (size_t i = 0; i < out_axes_.size(); ++i) {
      stacks.push_back({outputs[states_ + i], out_backwards_[i] != 0});
    }
    HONE_ASSIGN_OR_RETURN(
        std::vector<ir::Expr> results,
        std::move(repeat).Finish({outputs.begin(), first_stack}, stacks, node_.repeats()));
    for (size_t i = 0; i < out_axes_.size(); ++i) {
      ir::Expr& result = results[states_ + i];
      HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(out_axes_[i], RankOf(result)));
      Shape axes = Others(0, RankOf(result));
      axes.insert(axes.begin() + axis, 0);
      HONE_ASSIGN_OR_RETURN(result, Transposed(result, axes));
    }
    return results;
  }

  static Shape Others(int64_t axis, int64_t rank) {
    Shape others;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis) others.push_back(i);
    }
    return others;
  }

  static absl::StatusOr<ir::Expr> Transposed(const ir::Expr& e, const Shape& axes) {
    if (std::is_sorted(axes.begin(), axes.end())) return e;
    return Emit("transpose", {e}, {{"axes", axes}});
  }

  // `why` it cannot be a repeat, if that is known.
  absl::Status TooMany(const absl::Status& why) const {
    return absl::UnimplementedError(fmt::format(
        "scans of up to {} trips were expected where trips differ in more than values, for they "
        "are unrolled; found {}{}{}",
        kMostUnrolledTrips, trips_, why.ok() ? "" : ", and ", std::string(why.message())));
  }

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
    if (trips_ >= 1) return absl::OkStatus();
    return absl::UnimplementedError(
        fmt::format("scans of at least one trip were expected, found {}", trips_));
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

}  // namespace

Results ConvertScan(NodeReader& node, const NodeScope& scope) {
  return ScanConverter(node, scope).Run();
}

}  // namespace hone::frontend
