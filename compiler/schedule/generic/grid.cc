// Any kernel on a machine with a grid of threads: cheap stages are inlined into their readers, and
// every loop of what is left that keeps no order is of the grid, so that a thread computes one
// element of a stage, or one sum. Threads side by side write neighbours in memory, for naive nests
// go through what they write in its order.
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/rewrite/stage_schedule.h"
#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

// The loops of a launch that stand directly in each other, outermost first.
std::vector<Loop> PerfectLoops(const loop::Launch& launch) {
  std::vector<Loop> loops;
  loop::Stmt s = launch.body;
  while (s->kind == loop::StmtKind::kFor) {
    loops.emplace_back(s->var->name);
    const loop::Stmt inside = s->body[0];
    s = inside;
  }
  return loops;
}

// As many of the outermost loops as keep no order.
void MakeGrid(Sequence* s, const std::vector<Loop>& loops) {
  for (const Loop& loop : loops) {
    Sequence longer = *s;
    longer.Parallel(loop);
    if (!longer.ok()) return;
    *s = std::move(longer);
  }
}

// The kernel has one config.
class GridPlan final : public Plan {
 public:
  explicit GridPlan(const Task& task) : naive_(task.def->naive) {}

  std::optional<Knob> NextKnob(const Config& /*prefix*/) const override { return std::nullopt; }
  std::vector<PricedConfig> Ranked() const override { return {{Config()}}; }

  absl::StatusOr<loop::Nest> Schedule(const Config& /*config*/) const override {
    Sequence s(naive_);
    InlineCheapStages(&s);
    for (const loop::Launch& launch : loop::Nest(s.nest()).launches) {
      MakeGrid(&s, PerfectLoops(launch));
    }
    return std::move(s).Finish();
  }

 private:
  const loop::Nest naive_;
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
    return std::make_unique<GridPlan>(task);
  }
};

}  // namespace

const Template& GridTemplate() {
  static const Grid instance;
  return instance;
}

}  // namespace hone::schedule
