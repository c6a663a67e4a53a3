// Depthwise convolutions of two axes and pools of one to three: windows that combine the elements
// of one channel. On blocked layouts the lanes are channels (window/direct.h,
// window/filtered_rows.h, window/separate_axes.h). On row-major data they are neighbours along the
// width (window/rows.h), or the generic template does it.
#include "compiler/schedule/generic/stages.h"
#include "compiler/schedule/templates.h"
#include "compiler/schedule/window/direct.h"
#include "compiler/schedule/window/filtered_rows.h"
#include "compiler/schedule/window/rows.h"
#include "compiler/schedule/window/separate_axes.h"
#include "compiler/schedule/window/view.h"

namespace hone::schedule {
namespace {

// Windows as large as a row-major map are rows of columns to reduce.
bool IsReduction(const Task& task) {
  return AllRowMajor(task.signature) && RowsTemplate().Matches(*task.def);
}

bool IsBlocked(const Task& task) { return task.signature.results[0].BlockOf(1) > 1; }

// The strategies for blocks of channels.
class BlockedPlan final : public StrategiesPlan {
 public:
  explicit BlockedPlan(const std::shared_ptr<const Problem<Windowed>>& problem)
      : StrategiesPlan("direct"), problem_(problem) {
    AddAll<Windowed>(
        {{"direct", OpenWindowDirect}, {"winograd2", OpenFilteredRows}, {"axes", OpenSeparateAxes}},
        problem);
  }

  std::vector<PricedConfig> Ranked() const override {
    const Windowed& w = problem_->kernel;
    std::vector<PricedConfig> direct = RankedOf("direct");
    if (Has("axes")) return {RankedOf("axes")[0], direct[0]};
    if (!RowFiltersOnlyAdd(w)) return direct;
    std::vector<PricedConfig> filtered = RankedOf("winograd2");
    if (FiltersRowsByDefault(w, problem_->task.machine)) return {filtered[0], direct[0]};
    return {direct[0], filtered[0]};
  }

 private:
  const std::shared_ptr<const Problem<Windowed>> problem_;
};

// The strategies for row-major data whose rows are long enough.
class RowMajorPlan final : public StrategiesPlan {
 public:
  RowMajorPlan(const Task& task, std::unique_ptr<const Plan> rows) : StrategiesPlan("stages") {
    Add("rows", std::move(rows));
    Add("stages", OpenStages(task));
  }

  std::vector<PricedConfig> Ranked() const override { return RankedOf("rows"); }
};

class Channelwise : public Template {
 public:
  explicit Channelwise(bool depthwise) : depthwise_(depthwise) {}
  std::string_view name() const override { return depthwise_ ? "depthwise_conv2d" : "pool"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewWindowed(def, depthwise_).has_value();
  }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& machine) const override {
    return BlockedSignatures(def, ViewWindowed(def, depthwise_)->view, machine.vector.FloatLanes());
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    if (IsReduction(task)) return RowsTemplate().Open(task);
    const auto problem = std::make_shared<const Problem<Windowed>>(
        Problem<Windowed>{task, WindowedOf(task, depthwise_)});
    if (IsBlocked(task)) return std::make_unique<BlockedPlan>(problem);
    std::unique_ptr<const Plan> rows = OpenWindowRows(problem);
    if (rows == nullptr) return GenericTemplate().Open(task);
    return std::make_unique<RowMajorPlan>(task, std::move(rows));
  }

 private:
  bool depthwise_;
};

}  // namespace

const Template& DepthwiseConv2dTemplate() {
  static const Channelwise instance(true);
  return instance;
}

const Template& PoolTemplate() {
  static const Channelwise instance(false);
  return instance;
}

}  // namespace hone::schedule
