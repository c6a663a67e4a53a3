// Any kernel on a machine with a grid of threads: cheap stages are inlined into their readers, and
// every loop of what is left that keeps no order is of the grid. How the threads go about the sums
// with the most terms is the strategy.
#include <memory>
#include <utility>
#include <vector>

#include "compiler/schedule/generic/block_tile.h"
#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/generic/thread_tile.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/strategy.h"
#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

class GridPlan final : public StrategiesPlan {
 public:
  explicit GridPlan(const std::shared_ptr<const Problem<GridKernel>>& problem)
      : StrategiesPlan("thread_tile") {
    AddAll<GridKernel>({{"thread_tile", OpenThreadTile}, {"block_tile", OpenBlockTile}}, problem);
  }

  // The strategy with the better default first, then all that it has.
  std::vector<PricedConfig> Ranked() const override {
    std::vector<PricedConfig> threads = RankedOf("thread_tile");
    if (!Has("block_tile")) return threads;
    std::vector<PricedConfig> blocks = RankedOf("block_tile");
    if (threads.front().cycles < blocks.front().cycles) std::swap(threads, blocks);
    blocks.insert(blocks.end(), threads.begin(), threads.end());
    return blocks;
  }
};

class Grid final : public Template {
 public:
  std::string_view name() const override { return "grid"; }
  bool Matches(const ops::KernelDefinition& /*def*/) const override { return true; }

  // Row-major only.
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& /*machine*/) const override {
    return {RowMajorSignature(def)};
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<GridPlan>(std::make_shared<const Problem<GridKernel>>(
        Problem<GridKernel>{task, ViewGridKernel(task)}));
  }
};

}  // namespace

const Template& GridTemplate() {
  static const Grid instance;
  return instance;
}

}  // namespace hone::schedule
