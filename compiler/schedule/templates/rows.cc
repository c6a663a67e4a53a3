// Reductions along the innermost axes, or one with a few elements behind it, alone or as the stages
// of a softmax, a normalisation or a search for the largest element: one launch, a row at a time,
// all of its stages while the row is in registers or in the first cache. The lanes of a sum are
// combined at its end. Other layouts and orders are the generic template's, whose configs are a
// strategy here.
#include <algorithm>
#include <set>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/templates/compute_or_store.h"
#include "compiler/schedule/templates/row_loops.h"
#include "compiler/schedule/templates/row_parts.h"
#include "compiler/schedule/templates/sequence.h"
#include "compiler/schedule/templates/stage_schedule.h"
#include "compiler/schedule/templates/stages_strategy.h"
#include "compiler/schedule/templates/templates.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

// Whether a reduction is for the largest or smallest element, and another for where that is.
bool FindsPositions(const ops::KernelDefinition& def) {
  return std::ranges::any_of(
      def.ops, [](const ops::OpStage& op) { return op.op == "argmax" || op.op == "argmin"; });
}

bool HasFormOfRows(const ops::KernelDefinition& def) {
  const std::set<std::string> several = {"nn.softmax", "nn.log_softmax", "nn.layer_norm", "argmax",
                                         "argmin"};
  int reductions = 0;
  for (const ops::OpStage& op : def.ops) {
    if (op.kind <= ops::FuseKind::kInjective) continue;
    const bool reduces = op.kind == ops::FuseKind::kReduction || op.op.starts_with("nn.global_");
    if (!reduces && !several.contains(op.op)) return false;
    ++reductions;
  }
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  if (reductions != 1 || outputs.size() != 1) return false;
  return IsFloat(outputs[0]->dtype) || FindsPositions(def);
}

struct Rows {
  // One launch: the row loops, and in the last all stages. Before it those that are stored.
  Sequence s;
  std::vector<std::string> stored;
  int64_t columns = 0;       // of the longest innermost loop
  int64_t last_extent = 0;   // of the innermost of the loops over rows
  bool can_overlap = false;  // the first of several stages is a reduction
};

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

// Of the axes of the output: those over rows, which have so many iterations, and the others, both
// in order. Neither is known: no rows.
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

// The loops over rows become the grid, everything else is computed in the innermost of them; the
// first reduction for `together` rows at once, so that it is not waited for in each, or with
// `all_stages` each stage. nullopt where a row is not all that an iteration needs.
std::optional<Rows> GatherRows(const ops::KernelDefinition& def, int64_t together = 1,
                               bool all_stages = false) {
  Rows rows{.s = Sequence(def.naive), .stored = {}};
  Sequence& s = rows.s;
  InlineCheapStages(&s);
  JoinAxes(&s);  // pixels of a map that are reduced together are columns that fill vectors
  const Buffer output = OutputsOf(s.nest())[0];
  int64_t sums_count = 0;  // results of each reduction
  bool output_reduces = false;
  bool first_reduces = false;
  std::vector<std::string> stages;
  std::set<std::string> plain;  // those that are no reductions
  for (const loop::Launch& launch : s.nest().launches) {
    const Stmt body = loop::InsideLoops(launch.body);
    if (body->kind == StmtKind::kStore) {
      if (body->buffer != output) stages.push_back(body->buffer->name);
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
    if (sums != output) stages.push_back(sums->name);
  }
  if (output_reduces) stages.push_back(s.CacheWrite(output->name));
  const RowAxes axes = FindRowAxes(output->shape, sums_count);
  if (axes.rows.empty()) return std::nullopt;
  std::vector<std::string> loops;
  for (const size_t axis : axes.rows) loops.push_back(fmt::format("{}.i{}", output->name, axis));
  const std::string row = loops.back();
  for (const size_t axis : axes.columns) loops.push_back(fmt::format("{}.i{}", output->name, axis));
  if (!axes.columns.empty() && axes.columns[0] < axes.rows.back()) s.Reorder(loops);
  const std::string first = together > 1 ? row + ".block" : row;
  if (together > 1) s.Split(row, together, Tail::kExact, first, row);
  for (size_t i = 0; i + 1 < axes.rows.size(); ++i) s.Parallel(loops[i]);
  s.Parallel(first);
  rows.last_extent = output->shape[axes.rows.back()];
  rows.can_overlap = first_reduces && stages.size() > 1;
  std::reverse(stages.begin(), stages.end());
  constexpr double kMostTimes = 2;
  const double most = kMostTimes * MostIterations(s.nest());
  for (const std::string& stage : stages) {
    const std::string& at = all_stages || stage == stages.back() ? first : row;
    if (!plain.contains(stage)) {
      s.ComputeAt(stage, at);
    } else if (!ComputeUnlessMore(&s, stage, at, most)) {
      rows.stored.push_back(stage);
    }
  }
  s.SimplifyStage(output->name);
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

// Four rows (Zen 5: a softmax of 128 columns takes 0.87 of the time; eight no less), two where a
// row is read again for every stage, as long as half of the first cache holds them.
int64_t DefaultTogether(const Rows& rows, const std::string& row, const CpuTarget& target) {
  const int64_t most = row == "registers" ? 4 : 2;
  int64_t together = 1;
  for (const int64_t option : TogetherOptions(rows)) {
    const int64_t bytes = option * rows.columns * static_cast<int64_t>(sizeof(float));
    if (option <= most && 2 * bytes <= target.facts.l1_bytes) together = option;
  }
  return together;
}

// Whether it is the kernel's only operator that takes a maximum.
bool IsSoftmax(const ops::KernelDefinition& def) {
  bool softmax = false;
  for (const ops::OpStage& op : def.ops) {
    if (op.op == "nn.softmax" || op.op == "nn.log_softmax") {
      softmax = true;
    } else if (op.kind > ops::FuseKind::kInjective) {
      return false;
    }
  }
  return softmax;
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

// NaN reaches every result of a softmax by its sum: its maximum need not hand it on. AArch64's
// maximum hands it on for nothing.
bool DropsNan(const Task& task) { return !task.target.IsAArch64() && IsSoftmax(*task.def); }

absl::StatusOr<loop::Nest> ScheduleRows(const Task& task, const Config& config) {
  const bool all_stages = config.Has("overlap") && config.String("overlap") == "all";
  std::optional<Rows> rows = GatherRows(*task.def, config.Int("together"), all_stages);
  if (!rows) return absl::InternalError("expected rows that can be gathered in blocks too");
  const RowSchedule row = RowScheduleOf(config, DropsNan(task));
  for (const Stmt& loop : InnermostLoops(rows->s.nest().launches.back().body)) {
    ScheduleRowLoop(&rows->s, loop->var->name, row);
  }
  const StageOptions options{.lanes = config.Int("lanes"),
                             .unroll = 2,
                             .grid = 3,
                             .vector_reduction = false,
                             .turn = true,
                             .strip = 1};
  for (const std::string& stage : rows->stored) ScheduleStage(&rows->s, stage, options);
  rows->s.Simplify();
  return std::move(rows->s).Finish();
}

// The ways to reduce a kernel's rows; either may be impossible.
struct Ways {
  std::optional<Rows> rows;
  std::optional<RowParts> parts;
  bool any() const { return rows || parts; }
};

Ways WaysOf(const ops::KernelDefinition& def, int64_t threads) {
  return {GatherRows(def), PartsOfRows(def, threads)};
}

std::vector<std::string> StrategyOptions(const Ways& ways) {
  std::vector<std::string> options;
  if (ways.rows) options.emplace_back("rows");
  if (ways.parts) options.emplace_back("parts");
  options.emplace_back("stages");
  return options;
}

std::optional<Knob> NextPartsKnob(const RowParts& parts, const CpuTarget& target,
                                  const Config& prefix) {
  if (!prefix.Has("shares")) return IntKnob("shares", parts.options);
  return NextRowKnob(parts.Columns(prefix.Int("shares")), target, prefix);
}

std::optional<Knob> NextRowsKnob(const Rows& rows, const CpuTarget& target, const Config& prefix) {
  std::optional<Knob> row = NextRowKnob(rows.columns, target, prefix);
  if (row) return row;
  if (!prefix.Has("together")) return IntKnob("together", TogetherOptions(rows), 1);
  if (prefix.Int("together") > 1 && !prefix.Has("overlap")) {
    return TextKnob("overlap", {"first", "all"}, "first");
  }
  return std::nullopt;
}

// Parts cost a launch more and what is between the two, a few microseconds. So that is where rows
// leave threads without work for a quarter of the time, and reading all of them takes longer.
bool PartsPay(const Ways& ways, int64_t threads) {
  if (!ways.parts || !ways.rows) return ways.parts.has_value();
  constexpr int64_t kTerms = 1 << 17, kTermsOfPart = 1024;
  const RowParts& parts = *ways.parts;
  const int64_t shares = CeilDiv(parts.results, threads) * threads;
  return 4 * shares > 5 * parts.results && parts.terms >= kTerms &&
         parts.terms >= kTermsOfPart * parts.results * parts.options[0];
}

// The reductions whose results the kernel itself reads: their initialisation and update.
std::vector<Stmt> InnerReductions(const ops::KernelDefinition& def) {
  std::vector<Stmt> reductions;
  for (const loop::Launch& launch : def.naive.launches) {
    const Stmt body = loop::InsideLoops(launch.body);
    if (body->kind == StmtKind::kSeq && body->body[0]->kind == StmtKind::kStore &&
        body->body[0]->buffer->role != loop::Role::kOutput) {
      reductions.push_back(body);
    }
  }
  return reductions;
}

// Whether each channel has rows of its own, and channels are the last axis of the result that has
// more than one index: then they can be lanes.
bool ReducesWithinChannels(const Stmt& reduction) {
  const Stmt& first = reduction->body[0];
  Expr last;
  for (size_t d = 0; d < first->indices.size(); ++d) {
    if (first->buffer->shape[d] > 1) last = first->indices[d];
  }
  bool within = static_cast<bool>(last);
  loop::Walk(
      reduction->body[1], [](const Stmt&) { return true; },
      [&](const Expr& e) {
        if (e->kind != ExprKind::kLoad || e->buffer == first->buffer) return;
        within = within && (e->operands.size() < 3 || e->operands[1].SameAs(last));
      });
  return within;
}

// Whether all tensors that have pixels are in blocks of channels.
bool AllInBlocks(const ops::KernelDefinition& def, const ir::LayoutSignature& signature) {
  const auto fits = [](const Buffer& buffer, const Layout& layout) {
    const std::vector<int64_t>& shape = buffer->shape;
    return !layout.IsRowMajor() ||
           (shape.size() >= 2 && std::all_of(shape.begin() + 2, shape.end(),
                                             [](int64_t extent) { return extent == 1; }));
  };
  const std::vector<Buffer> inputs = InputsOf(def.naive);
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  return std::equal(inputs.begin(), inputs.end(), signature.operands.begin(), fits) &&
         std::equal(outputs.begin(), outputs.end(), signature.results.begin(), fits);
}

// Whether lanes are neighbours in all stages of a softmax or a normalisation: where all is
// row-major, or all in blocks of channels and nothing goes across these.
bool SuitsStages(const ops::KernelDefinition& def, const ir::LayoutSignature& signature) {
  const std::vector<Stmt> reductions = InnerReductions(def);
  if (reductions.empty() || AllRowMajor(signature)) return true;
  const auto moves = [](const ops::OpStage& op) { return op.kind == ops::FuseKind::kInjective; };
  return AllInBlocks(def, signature) && std::none_of(def.ops.begin(), def.ops.end(), moves) &&
         std::all_of(reductions.begin(), reductions.end(), ReducesWithinChannels);
}

class RowsTemplateImpl : public Template {
 public:
  std::string_view name() const override { return "rows"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return HasFormOfRows(def) && WaysOf(def, 1).any();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const CpuTarget& target) const override {
    std::vector<ir::LayoutSignature> signatures = GenericTemplate().Signatures(def, target);
    std::erase_if(signatures, [&](const ir::LayoutSignature& signature) {
      return !SuitsStages(def, signature);
    });
    return signatures;
  }

  Space MakeSpace(const Task& task) const override {
    Space generic = GenericTemplate().MakeSpace(task);
    if (!AllRowMajor(task.signature)) return generic;
    return Space([ways = WaysOf(*task.def, task.target.threads), generic,
                  target = task.target](const Config& prefix) -> std::optional<Knob> {
      if (!prefix.Has("strategy")) return TextKnob("strategy", StrategyOptions(ways), "stages");
      if (prefix.String("strategy") == "rows") return NextRowsKnob(*ways.rows, target, prefix);
      if (prefix.String("strategy") == "parts") return NextPartsKnob(*ways.parts, target, prefix);
      return generic.Next(prefix);
    });
  }

  // The first reductions of several rows overlap, or all stages.
  Config Default(const Task& task) const override {
    if (!AllRowMajor(task.signature)) return GenericTemplate().Default(task);
    const Ways ways = WaysOf(*task.def, task.target.threads);
    if (PartsPay(ways, task.target.threads)) return DefaultParts(*ways.parts, task.target);
    if (!ways.rows) return DefaultStages(task);
    Config config;
    config.Set("strategy", std::string("rows"));
    SetDefaultRow(ways.rows->columns, task.target, &config);
    const int64_t together = DefaultTogether(*ways.rows, config.String("row"), task.target);
    config.Set("together", together);
    if (together > 1) config.Set("overlap", DefaultOverlap(task, *ways.rows, config));
    return config;
  }

  absl::StatusOr<loop::Nest> Schedule(const Task& task, const Config& config) const override {
    HONE_RETURN_IF_ERROR(CheckSignature(task));
    if (!AllRowMajor(task.signature)) return GenericTemplate().Schedule(task, config);
    HONE_RETURN_IF_ERROR(CheckConfig(MakeSpace(task), config));
    if (config.String("strategy") == "rows") return ScheduleRows(task, config);
    if (config.String("strategy") == "parts") {
      return ScheduleRowParts(*task.def, *PartsOfRows(*task.def, task.target.threads),
                              config.Int("shares"), RowScheduleOf(config, DropsNan(task)));
    }
    return ScheduleAsStages(task, config);
  }

 private:
  static Config DefaultParts(const RowParts& parts, const CpuTarget& target) {
    Config config;
    config.Set("strategy", std::string("parts"));
    config.Set("shares", parts.options[0]);
    SetDefaultRow(parts.Columns(parts.options[0]), target, &config);
    return config;
  }
};

}  // namespace

const Template& RowsTemplate() {
  static const RowsTemplateImpl instance;
  return instance;
}

}  // namespace hone::schedule
