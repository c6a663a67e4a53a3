#include "compiler/frontend/onnx/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx/node_cost.h"
#include "compiler/frontend/onnx/repeat_builder.h"
#include "compiler/frontend/onnx/subgraph.h"
#include "compiler/frontend/tensor_size.h"
#include "compiler/ops/call_type.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

class LoopConverter {
 public:
  LoopConverter(NodeReader& node, const NodeScope& scope) : node_(node), scope_(scope) {}

  Results Run() {
    HONE_ASSIGN_OR_RETURN(body_, SubgraphOf(node_, "body"));
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
    const bool is_counted = trips_ < INT64_MAX && trips_ > kMostShortTrips;
    if (goes_on && is_counted && node_.repeats() != nullptr) {
      Results repeated = node_.Try([&] { return Repeated(carried); });
      if (repeated.ok()) return repeated;
      if (trips_ > kMostUnrolledTrips && !node_.Has(1)) return TooMany(repeated.status());
    }
    int64_t trip = 0;
    for (; goes_on && trip < trips_; ++trip) {
      if (trip == kMostUnrolledTrips) return TooMany(absl::OkStatus());
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
      trips_ = static_cast<int64_t>(std::clamp(numbers[0], 0.0, 1e18));
    }
    condition_ = node_.Has(1) ? node_.args()[1] : ScalarConstant(1, DataType::kBool);
    return absl::OkStatus();
  }

  // `why` it cannot be a repeat, if that is known.
  static absl::Status TooMany(const absl::Status& why) {
    return absl::UnimplementedError(fmt::format(
        "loops of up to {} trips were expected where trips differ in more than values, for they "
        "are unrolled{}{}",
        kMostUnrolledTrips, why.ok() ? "" : "; found ", std::string(why.message())));
  }

  // The condition must hold in all trips.
  Results Repeated(const std::vector<ir::Expr>& carried) const {
    HONE_RETURN_IF_ERROR(CheckTensors(carried));
    HONE_RETURN_IF_ERROR(node_.Unroll(CostOf(*body_)));
    RepeatBuilder repeat(trips_);
    const ir::Expr number = ir::TensorVar("trip", {}, DataType::kInt64);
    std::vector<ir::Expr> inputs = {number, ScalarConstant(1, DataType::kBool)};
    for (const ir::Expr& e : carried) inputs.push_back(repeat.AddState(e));
    HONE_ASSIGN_OR_RETURN(const auto outputs, RunRepeated(*body_, scope_, inputs));
    HONE_RETURN_IF_ERROR(CheckTensors(outputs));
    HONE_ASSIGN_OR_RETURN(const bool goes_on, KnownCondition(outputs[0]));
    if (!goes_on) return absl::UnimplementedError("a condition that ends it");
    const auto first_stack = outputs.begin() + 1 + static_cast<int64_t>(carried.size());
    std::vector<RepeatBuilder::Stack> stacks;
    for (auto row = first_stack; row != outputs.end(); ++row) stacks.push_back({*row, false});
    const std::vector<ir::Expr> nodes = ir::PostOrder(ops::TypedTuple(outputs));
    if (std::find(nodes.begin(), nodes.end(), number) != nodes.end()) {
      HONE_ASSIGN_OR_RETURN(const ir::Expr numbers, Numbers());
      repeat.AddSlice(numbers, /*backwards=*/false, number);
    }
    return std::move(repeat).Finish({outputs.begin() + 1, first_stack}, stacks, node_.repeats());
  }

  // The numbers of the trips, as a constant.
  absl::StatusOr<ir::Expr> Numbers() const {
    HONE_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes({trips_}, DataType::kInt64));
    HONE_RETURN_IF_ERROR(node_.Generate(bytes));
    std::vector<int64_t> numbers(trips_);
    std::iota(numbers.begin(), numbers.end(), 0);
    return IntsConstant(numbers);
  }

  Results Trip(int64_t trip, const std::vector<ir::Expr>& carried) const {
    HONE_RETURN_IF_ERROR(node_.Unroll(CostOf(*body_)));
    std::vector<ir::Expr> inputs = {ir::ConstantFromBytes({{}, DataType::kInt64}, &trip),
                                    condition_};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    return RunGraph(*body_, scope_, inputs, PlaceOf(node_, trip));
  }

  Results Finish(std::vector<ir::Expr> carried, const std::vector<std::vector<ir::Expr>>& scanned,
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

}  // namespace

Results ConvertLoop(NodeReader& node, const NodeScope& scope) {
  return LoopConverter(node, scope).Run();
}

}  // namespace hone::frontend
