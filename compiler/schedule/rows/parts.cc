#include "compiler/schedule/rows/parts.h"

#include <algorithm>

#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/row_loops.h"
#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {
namespace {

using loop::Stmt;
using loop::StmtKind;

Sequence Inlined(const ops::KernelDefinition& def) {
  Sequence s(def.naive);
  InlineCheapStages(&s);
  return s;
}

int64_t ElementsOf(const loop::Buffer& buffer) {
  return buffer->layout.ElementCount(buffer->shape);
}

// The kernel's only reduction: its launch's body. Null where there is none or another, or where a
// stage has more elements than it has results.
Stmt OnlyReduction(const loop::Nest& nest) {
  Stmt found;
  int64_t most = 0;  // elements of another stage
  for (const loop::Launch& launch : nest.launches) {
    const Stmt inside = loop::InsideLoops(launch.body);
    if (inside->kind == StmtKind::kStore) {
      most = std::max(most, ElementsOf(inside->buffer));
      continue;
    }
    const bool is_reduction = inside->kind == StmtKind::kSeq && inside->body.size() == 2 &&
                              inside->body[0]->kind == StmtKind::kStore;
    if (found || !is_reduction) return Stmt();
    found = inside;
  }
  return found && most <= ElementsOf(found->body[0]->buffer) ? found : Stmt();
}

std::vector<int64_t> PartOptions(int64_t extent, int64_t threads) {
  std::vector<int64_t> options;
  for (const int64_t each : {1, 2, 4, 8}) {
    const int64_t parts = each * threads;
    if (extent % parts == 0 && extent > parts) options.push_back(parts);
  }
  return options;
}

}  // namespace

std::optional<RowParts> PartsOfRows(const ops::KernelDefinition& def, int64_t threads) {
  const Sequence s = Inlined(def);
  const Stmt reduction = s.ok() ? OnlyReduction(s.nest()) : Stmt();
  if (!reduction) return std::nullopt;
  const loop::Buffer& sums = reduction->body[0]->buffer;
  const int64_t results = ElementsOf(sums);
  // One thread needs no parts, but a result without an axis has no other way to be vectors.
  const bool has_enough = threads > 1 ? results >= 4 * threads : !sums->shape.empty();
  if (!IsFloat(sums->dtype) || has_enough) return std::nullopt;
  RowParts rows;
  rows.results = rows.terms = results;
  Stmt innermost;
  for (Stmt loop = reduction->body[1]; loop->kind == StmtKind::kFor; loop = loop->body[0]) {
    int64_t extent = 0;
    if (!loop::IsConstInt(loop->extent, &extent)) return std::nullopt;
    rows.terms *= extent;
    rows.innermost = extent;
    innermost = loop;
    const std::vector<int64_t> options = PartOptions(extent, threads);
    if (options.size() <= rows.options.size()) continue;
    rows.loop = Loop(loop->var->name);
    rows.options = options;
  }
  if (!innermost || !ReadsAlong(innermost)) return std::nullopt;
  rows.divides_innermost = innermost->var->name == rows.loop.name();
  constexpr int64_t kFewest = 4;  // columns of vectors
  std::erase_if(rows.options, [&](int64_t parts) { return rows.Columns(parts) < kFewest; });
  if (rows.options.empty()) return std::nullopt;
  return rows;
}

namespace {

absl::StatusOr<loop::Nest> ScheduleRowParts(const ops::KernelDefinition& def, const RowParts& rows,
                                            int64_t parts, const RowSchedule& row) {
  Sequence s = Inlined(def);
  const Stage partial = s.Rfactor(rows.loop, parts);
  const Stage sums = s.CacheWrite(partial);
  const loop::Buffer buffer = BufferOf(s.nest(), partial.buffer());
  if (!s.ok()) return std::move(s).Finish();
  const std::vector<Loop> axes = partial.Axes(buffer->shape.size());
  for (const Loop& axis : axes) s.Parallel(axis);
  s.ComputeAt(sums, axes.back());
  s.Simplify();
  const auto writer = WriterOf(s.nest(), buffer);
  if (!writer.ok()) return writer.status();
  for (const Stmt& loop : InnermostLoops(s.nest().launches[*writer].body)) {
    ScheduleRowLoop(&s, Loop(loop->var->name), row);
  }
  s.Simplify();
  return std::move(s).Finish();
}

class RowPartsPlan final : public Plan {
 public:
  explicit RowPartsPlan(std::shared_ptr<const Problem<Reduction>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("shares")) return IntKnob("shares", parts().options);
    return NextRowKnob(parts().Columns(prefix.Int("shares")), task().machine, prefix);
  }

  std::vector<PricedConfig> Ranked() const override {
    Config config;
    config.Set("shares", parts().options[0]);
    SetDefaultRow(parts().Columns(parts().options[0]), task().machine, &config);
    return {{std::move(config)}};
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ScheduleRowParts(*task().def, parts(), config.Int("shares"),
                            RowScheduleOf(config, DropsNan(task())));
  }

 private:
  const Task& task() const { return problem_->task; }
  const RowParts& parts() const { return *problem_->kernel.parts; }

  const std::shared_ptr<const Problem<Reduction>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenRowParts(const std::shared_ptr<const Problem<Reduction>>& problem) {
  if (!problem->kernel.parts) return nullptr;
  return std::make_unique<RowPartsPlan>(problem);
}

}  // namespace hone::schedule
