#include "compiler/schedule/rows/gathered.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/compute_or_store.h"
#include "compiler/schedule/rewrite/row_loops.h"
#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

// Elements from one of a row to the next: vectors of fewer lanes than these are hardly vectors.
constexpr int64_t kMostApart = 3;

// How many rows may have their first reduction together.
std::vector<int64_t> TogetherOptions(const Rows& rows) {
  std::vector<int64_t> options = {1};
  for (const int64_t together : {2, 4, 8}) {
    if (rows.can_overlap && rows.last_extent % together == 0) options.push_back(together);
  }
  return options;
}

// The axes of the output: those over rows, which have so many iterations, and the others, both in
// order. Where neither is known, there are no rows.
struct RowAxes {
  std::vector<size_t> rows, columns;
};

RowAxes SplitAxes(const std::vector<int64_t>& shape, size_t rows) {
  RowAxes axes;
  for (size_t i = 0; i < shape.size(); ++i) (i < rows ? axes.rows : axes.columns).push_back(i);
  return axes;
}

// The outer axes, or all but one that has a few elements of each row behind it.
RowAxes FindRowAxes(const std::vector<int64_t>& shape, int64_t rows) {
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    count *= shape[i];
    if (count == rows) return SplitAxes(shape, i + 1);
  }
  int64_t behind = 1;
  for (size_t i = shape.size(); i-- > 0 && behind <= kMostApart; behind *= shape[i]) {
    if (shape[i] > 1 && rows * shape[i] == count && behind > 1) {
      RowAxes axes = SplitAxes(shape, shape.size());
      axes.rows.erase(axes.rows.begin() + static_cast<ptrdiff_t>(i));
      axes.columns = {i};
      return axes;
    }
  }
  return {};
}

}  // namespace

std::optional<Rows> GatherRows(const ops::KernelDefinition& def, int64_t together,
                               bool all_stages) {
  Rows rows{.s = Sequence(def.naive), .stored = {}};
  Sequence& s = rows.s;
  InlineCheapStages(&s);
  JoinAxes(&s);  // pixels of a map that are reduced together are columns that fill vectors
  const Buffer output = OutputsOf(s.nest())[0];
  int64_t sums_count = 0;  // results of each reduction
  bool output_reduces = false;
  bool first_reduces = false;
  std::vector<Stage> stages;
  std::set<std::string> plain;  // buffers of those that are no reductions
  for (const loop::Launch& launch : s.nest().launches) {
    const Stmt body = loop::InsideLoops(launch.body);
    if (body->kind == StmtKind::kStore) {
      if (body->buffer != output) stages.emplace_back(body->buffer->name);
      plain.insert(body->buffer->name);
      continue;
    }
    if (body->kind != StmtKind::kSeq || body->body[0]->kind != StmtKind::kStore)
      return std::nullopt;
    const Buffer& sums = body->body[0]->buffer;
    if (!IsFloat(sums->dtype) && !FindsPositions(def)) return std::nullopt;
    const int64_t count = sums->layout.ElementCount(sums->shape);
    if (sums_count != 0 && sums_count != count) return std::nullopt;
    sums_count = count;
    output_reduces = output_reduces || sums == output;
    first_reduces = first_reduces || stages.empty();
    if (sums != output) stages.emplace_back(sums->name);
  }
  const Stage result(output->name);
  if (output_reduces) stages.push_back(s.CacheWrite(result));
  const RowAxes axes = FindRowAxes(output->shape, sums_count);
  if (axes.rows.empty()) return std::nullopt;
  std::vector<Loop> loops;
  for (const size_t axis : axes.rows) loops.push_back(result.Axis(axis));
  const Loop row = loops.back();
  for (const size_t axis : axes.columns) loops.push_back(result.Axis(axis));
  if (!axes.columns.empty() && axes.columns[0] < axes.rows.back()) s.Reorder(loops);
  const Loop first = together > 1 ? row.Block() : row;
  if (together > 1) s.Split(row, together, Tail::kExact, first, row);
  for (size_t i = 0; i + 1 < axes.rows.size(); ++i) s.Parallel(loops[i]);
  s.Parallel(first);
  rows.last_extent = output->shape[axes.rows.back()];
  rows.can_overlap = first_reduces && stages.size() > 1;
  std::reverse(stages.begin(), stages.end());
  constexpr double kMostTimes = 2;
  const double most = kMostTimes * MostIterations(s.nest());
  for (const Stage& stage : stages) {
    const Loop& at = all_stages || stage == stages.back() ? first : row;
    if (!plain.contains(stage.buffer())) {
      s.ComputeAt(stage, at);
    } else if (!ComputeUnlessMore(&s, stage, at, most)) {
      rows.stored.push_back(stage);
    }
  }
  s.SimplifyStage(result);
  if (!s.ok() || s.nest().launches.size() != 1 + rows.stored.size()) return std::nullopt;
  for (const Stmt& loop : InnermostLoops(s.nest().launches.back().body)) {
    int64_t extent = 0;
    if (!loop::IsConstInt(loop->extent, &extent) || !ReadsAlong(loop, kMostApart)) {
      return std::nullopt;
    }
    rows.columns = std::max(rows.columns, extent);
  }
  bool per_row = true;  // every sum is one number a row
  loop::Walk(s.nest().launches.back().body, [&](const Stmt& body) {
    if (body->kind == StmtKind::kStore && loop::Accumulates(*body)) {
      for (const Expr& index : body->indices) per_row = per_row && loop::IsConstInt(index);
    }
    return true;
  });
  if ((!per_row && together == 1) || rows.columns < 4) return std::nullopt;
  return rows;
}

namespace {

// Four rows (Zen 5: a softmax of 128 columns takes 0.87 of the time; eight no less), two where a
// row is read again for every stage, as long as half of the first cache holds them.
int64_t DefaultTogether(const Rows& rows, const std::string& row, const machine::Machine& machine) {
  const int64_t most = row == "registers" ? 4 : 2;
  int64_t together = 1;
  for (const int64_t option : TogetherOptions(rows)) {
    const int64_t bytes = option * rows.columns * static_cast<int64_t>(sizeof(float));
    if (option <= most && 2 * bytes <= machine.memory.l1.size_bytes) together = option;
  }
  return together;
}

// Exponentials of a row that fills registers also fill the window in which the core finds work:
// nothing of the next row is in it while a row's sum is combined. Then the rows take turns stage by
// stage (Sapphire Rapids: a softmax of 128 columns takes 0.94 of the time with AVX-512, and 1.08
// with AVX2; a normalisation, whose stages are short, no less).
std::string DefaultOverlap(const Task& task, const Rows& rows, const Config& config) {
  constexpr int64_t kFewVectors = 4, kWideLanes = 16;
  const int64_t lanes = config.Int("lanes");
  const bool fills = lanes >= kWideLanes && rows.columns > kFewVectors * lanes;
  return IsSoftmax(*task.def) && config.String("row") == "registers" && fills ? "all" : "first";
}

absl::StatusOr<loop::Nest> ScheduleRows(const Task& task, const Config& config) {
  const bool all_stages = config.Has("overlap") && config.String("overlap") == "all";
  std::optional<Rows> rows = GatherRows(*task.def, config.Int("together"), all_stages);
  if (!rows) return absl::InternalError("expected rows that can be gathered in blocks too");
  const RowSchedule row = RowScheduleOf(config, DropsNan(task));
  for (const Stmt& loop : InnermostLoops(rows->s.nest().launches.back().body)) {
    ScheduleRowLoop(&rows->s, Loop(loop->var->name), row);
  }
  const StageOptions options{.lanes = config.Int("lanes"),
                             .unroll = 2,
                             .grid = 3,
                             .vector_reduction = false,
                             .turn = true,
                             .strip = 1};
  for (const Stage& stage : rows->stored) ScheduleStage(&rows->s, stage, options);
  rows->s.Simplify();
  return std::move(rows->s).Finish();
}

std::optional<Knob> NextRowsKnob(const Rows& rows, const machine::Machine& machine,
                                 const Config& prefix) {
  std::optional<Knob> row = NextRowKnob(rows.columns, machine, prefix);
  if (row) return row;
  if (!prefix.Has("together")) return IntKnob("together", TogetherOptions(rows), 1);
  if (prefix.Int("together") > 1 && !prefix.Has("overlap")) {
    return TextKnob("overlap", {"first", "all"}, "first");
  }
  return std::nullopt;
}

class GatheredRowsPlan final : public Plan {
 public:
  explicit GatheredRowsPlan(std::shared_ptr<const Problem<Reduction>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return NextRowsKnob(rows(), task().machine, prefix);
  }

  // The first reductions of several rows overlap, or all stages.
  std::vector<PricedConfig> Ranked() const override {
    Config config;
    SetDefaultRow(rows().columns, task().machine, &config);
    const int64_t together = DefaultTogether(rows(), config.String("row"), task().machine);
    config.Set("together", together);
    if (together > 1) config.Set("overlap", DefaultOverlap(task(), rows(), config));
    return {{std::move(config)}};
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ScheduleRows(task(), config);
  }

 private:
  const Task& task() const { return problem_->task; }
  const Rows& rows() const { return *problem_->kernel.rows; }

  const std::shared_ptr<const Problem<Reduction>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenGatheredRows(
    const std::shared_ptr<const Problem<Reduction>>& problem) {
  if (!problem->kernel.rows) return nullptr;
  return std::make_unique<GatheredRowsPlan>(problem);
}

}  // namespace hone::schedule
