// Any kernel on a machine with a grid of threads: cheap stages are inlined into their readers, and
// every loop of what is left that keeps no order is of the grid. How the threads go about the sums
// with the most terms is the strategy.
#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/schedule/generic/block_rows.h"
#include "compiler/schedule/generic/block_tile.h"
#include "compiler/schedule/generic/block_transpose.h"
#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/generic/memory_order.h"
#include "compiler/schedule/generic/thread_tile.h"
#include "compiler/schedule/generic/warp_tile.h"
#include "compiler/schedule/generic/warpgroup_tile.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/strategy.h"
#include "compiler/schedule/templates.h"
#include "support/status.h"

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
                        {"warp_tile", OpenWarpTile},
                        {"warpgroup_tile", OpenWarpgroupTile}},
                       problem);
  }

  // The strategy with the better default first, then all that it has.
  std::vector<PricedConfig> Ranked() const override {
    std::vector<std::vector<PricedConfig>> by_strategy;
    for (const std::string_view name : {"warpgroup_tile", "warp_tile", "block_transpose",
                                        "block_rows", "block_tile", "thread_tile"}) {
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

// A kernel that is scheduled as one of row-major tensors.
class ReorderedPlan final : public Plan {
 public:
  // `ordered` is the kernel in the order of memory, which `plan` schedules.
  ReorderedPlan(const Task& task, std::unique_ptr<const ops::KernelDefinition> ordered,
                std::unique_ptr<const Plan> plan)
      : def_(*task.def),
        signature_(task.signature),
        ordered_(std::move(ordered)),
        plan_(std::move(plan)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return plan_->NextKnob(prefix);
  }
  std::vector<PricedConfig> Ranked() const override { return plan_->Ranked(); }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    HONE_ASSIGN_OR_RETURN(const loop::Nest nest, plan_->Schedule(config));
    return InLogicalOrder(nest, def_, signature_);
  }
  std::optional<double> Amplification(const Config& config) const override {
    return plan_->Amplification(config);
  }

 private:
  const ops::KernelDefinition& def_;
  const ir::LayoutSignature signature_;
  const std::unique_ptr<const ops::KernelDefinition> ordered_;
  const std::unique_ptr<const Plan> plan_;
};

std::unique_ptr<const Plan> OpenRowMajor(const Task& task) {
  return std::make_unique<GridPlan>(
      std::make_shared<const Problem<GridKernel>>(Problem<GridKernel>{task, ViewGridKernel(task)}));
}

bool IsImage(const loop::Buffer& buffer) { return buffer->shape.size() == kImageRank; }

void PutChannelsLast(const std::vector<loop::Buffer>& buffers, std::vector<Layout>* layouts) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (IsImage(buffers[i])) (*layouts)[i] = *Layout::Parse("NHWC", kImageRank);
  }
}

// All images NHWC.
ir::LayoutSignature ChannelsLast(const ops::KernelDefinition& def) {
  ir::LayoutSignature signature = RowMajorSignature(def);
  PutChannelsLast(InputsOf(def.naive), &signature.operands);
  PutChannelsLast(OutputsOf(def.naive), &signature.results);
  return signature;
}

// The results NHWC.
ir::LayoutSignature ChannelsBecomeLast(const ops::KernelDefinition& def) {
  ir::LayoutSignature signature = RowMajorSignature(def);
  PutChannelsLast(OutputsOf(def.naive), &signature.results);
  return signature;
}

// Whether the kernel makes an image of another one that has fewer channels, in which neighbours are
// of no use, as what puts squares of pixels together does (compiler/passes/space_to_depth.h), also
// where it normalises them by constants. Kernels with sums, such as convolutions, are not such
// kernels: they profit from images whose channels come last.
bool GathersChannels(const ops::KernelDefinition& def) {
  constexpr size_t kChannelAxis = 1;
  const std::vector<loop::Buffer> inputs = InputsOf(def.naive), outputs = OutputsOf(def.naive);
  const bool has_sums = std::ranges::any_of(
      def.naive.launches, [](const loop::Launch& launch) { return FormOf(launch).reduction; });
  return !has_sums && inputs.size() == 1 && outputs.size() == 1 && IsImage(inputs[0]) &&
         IsImage(outputs[0]) && inputs[0]->shape[kChannelAxis] < outputs[0]->shape[kChannelAxis];
}

// Whether the kernel has images of 16 bits, whose channels tensor cores sum over where they are
// neighbours.
bool HasNarrowImages(const ops::KernelDefinition& def) {
  return std::ranges::any_of(def.naive.buffers, [](const loop::Buffer& buffer) {
    const bool is_visible =
        buffer->role == loop::Role::kInput || buffer->role == loop::Role::kOutput;
    return is_visible && IsImage(buffer) && IsFloat(buffer->dtype) && SizeBytes(buffer->dtype) == 2;
  });
}

class Grid final : public Template {
 public:
  std::string_view name() const override { return "grid"; }
  bool Matches(const ops::KernelDefinition& /*def*/) const override { return true; }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& /*machine*/) const override {
    std::vector<ir::LayoutSignature> signatures = {RowMajorSignature(def)};
    if (!HasNarrowImages(def)) return signatures;
    signatures.push_back(ChannelsLast(def));
    if (GathersChannels(def)) signatures.push_back(ChannelsBecomeLast(def));
    return signatures;
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    if (task.signature == RowMajorSignature(*task.def)) return OpenRowMajor(task);
    auto ordered =
        std::make_unique<const ops::KernelDefinition>(InMemoryOrder(*task.def, task.signature));
    Task inside = task;
    inside.def = ordered.get();
    inside.signature = RowMajorSignature(*ordered);
    std::unique_ptr<const Plan> plan = OpenRowMajor(inside);
    return std::make_unique<ReorderedPlan>(task, std::move(ordered), std::move(plan));
  }
};

}  // namespace

const Template& GridTemplate() {
  static const Grid instance;
  return instance;
}

}  // namespace hone::schedule
