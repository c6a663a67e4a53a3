// Any kernel on a machine with a grid of threads: cheap stages are inlined into their readers, and
// every loop of what is left that keeps no order is of the grid. How the threads go about the sums
// with the most terms is the strategy.
#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/schedule/generic/block_rows.h"
#include "compiler/schedule/generic/block_tile.h"
#include "compiler/schedule/generic/block_transpose.h"
#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/generic/thread_tile.h"
#include "compiler/schedule/generic/warp_tile.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/strategy.h"
#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

class GridPlan final : public StrategiesPlan {
 public:
  explicit GridPlan(const std::shared_ptr<const Problem<GridKernel>>& problem)
      : StrategiesPlan("thread_tile") {
    AddAll<GridKernel>({{"thread_tile", OpenThreadTile},
                        {"block_tile", OpenBlockTile},
                        {"block_rows", OpenBlockRows},
                        {"block_transpose", OpenBlockTranspose},
                        {"warp_tile", OpenWarpTile}},
                       problem);
  }

  // The strategy with the better default first, then all that it has.
  std::vector<PricedConfig> Ranked() const override {
    std::vector<std::vector<PricedConfig>> by_strategy;
    for (const std::string_view name :
         {"warp_tile", "block_transpose", "block_rows", "block_tile", "thread_tile"}) {
      if (Has(name)) by_strategy.push_back(RankedOf(name));
    }
    std::ranges::stable_sort(by_strategy, {}, [](const std::vector<PricedConfig>& ranked) {
      return ranked.front().cycles;
    });
    std::vector<PricedConfig> all;
    for (const std::vector<PricedConfig>& ranked : by_strategy) {
      all.insert(all.end(), ranked.begin(), ranked.end());
    }
    return all;
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
