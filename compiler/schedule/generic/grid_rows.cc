#include "compiler/schedule/generic/grid_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/linear.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

// The axis of the results that each axis of a buffer is.
using RowAxesOf = std::vector<std::optional<size_t>>;

std::vector<Expr> AllLoads(const Stmt& body) {
  std::vector<Expr> loads;
  loop::Walk(
      body, [](const Stmt&) { return true; },
      [&](const Expr& e) {
        if (e->kind == ExprKind::kLoad) loads.push_back(e);
      });
  return loads;
}

// A launch that fills a buffer by one store, or by a store and the loops of a reduction.
struct RowForm {
  Buffer buffer;
  StageNest nest;
  std::vector<Stmt> steps;  // loops of the reduction, outermost first
  bool reduces = false;

  std::vector<Expr> Loads() const {
    std::vector<Expr> loads = AllLoads(nest.body);
    std::erase_if(loads, [&](const Expr& load) { return load->buffer == buffer; });
    return loads;
  }
};

std::optional<RowForm> FormOfStage(const loop::Nest& nest, size_t launch) {
  const Stmt inside = loop::InsideLoops(nest.launches[launch].body);
  RowForm form;
  if (inside->kind == StmtKind::kStore) {
    form.buffer = inside->buffer;
  } else if (inside->kind == StmtKind::kSeq && inside->body.size() == 2 &&
             inside->body[0]->kind == StmtKind::kStore) {
    form.buffer = inside->body[0]->buffer;
    form.reduces = true;
  } else {
    return std::nullopt;
  }
  absl::StatusOr<StageNest> stage = MatchStage(nest, launch, form.buffer);
  const absl::StatusOr<size_t> writer = WriterOf(nest, form.buffer);
  if (!stage.ok() || !writer.ok()) return std::nullopt;
  form.nest = *std::move(stage);
  if (!form.reduces) {
    if (form.nest.body->kind != StmtKind::kStore) return std::nullopt;
    return form;
  }
  if (form.nest.body != inside) return std::nullopt;
  Stmt s = inside->body[1];
  for (; s->kind == StmtKind::kFor; s = Stmt(s->body[0])) {
    int64_t min = -1;
    if (!loop::IsConstInt(s->min, &min) || min != 0 || !loop::IsConstInt(s->extent)) {
      return std::nullopt;
    }
    form.steps.push_back(s);
  }
  const bool accumulates = !form.steps.empty() && s->kind == StmtKind::kStore &&
                           s->buffer == form.buffer && loop::Accumulates(*s) &&
                           loop::NeutralOf(s->value->binary_op, s->buffer->dtype) &&
                           !Loads(s->value->operands[1], form.buffer);
  return accumulates ? std::optional(std::move(form)) : std::nullopt;
}

int64_t ExtentOfLoop(const Stmt& s) {
  int64_t extent = 1;
  loop::IsConstInt(s->extent, &extent);
  return extent;
}

// Finds which axes of all stages say which row it is, from the results on.
class RowFinder {
 public:
  explicit RowFinder(const Sequence& s) : s_(s) {}

  // Whether all launches are stages of the same rows, as far as their form goes.
  bool Run() {
    const loop::Nest& nest = s_.nest();
    for (size_t i = 0; i < nest.launches.size(); ++i) {
      std::optional<RowForm> form = FormOfStage(nest, i);
      if (!form || nest.launches[i].phase != loop::Phase::kRun) return false;
      if (form->reduces) reductions_.insert(form->buffer.get());
      forms_.push_back(*std::move(form));
    }
    if (forms_.empty() || reductions_.empty() || forms_.back().reduces) return false;
    if (!FindRowsOfResults()) return false;
    for (size_t i = forms_.size(); i-- > 0;) {
      if (!rows_.contains(forms_[i].buffer.get()) || !HandOn(forms_[i])) return false;
    }
    return true;
  }

  const std::vector<RowForm>& forms() const { return forms_; }
  const std::vector<size_t>& axes() const { return axes_; }
  const RowAxesOf& RowsOf(const Buffer& buffer) const { return rows_.at(buffer.get()); }
  const std::vector<int64_t>& shape() const { return forms_.back().buffer->shape; }

  // Whether the buffer's axes say all of which row it is.
  bool HasAllRows(const RowAxesOf& rows) const {
    return std::ranges::all_of(axes_, [&](size_t axis) {
      return shape()[axis] == 1 || std::ranges::find(rows, std::optional(axis)) != rows.end();
    });
  }

  // The axes of the results that the indices of a load are; nullopt where one is something else
  // than a loop's variable or a number.
  std::optional<RowAxesOf> RowsOfLoad(const RowForm& form, const Expr& load) const {
    RowAxesOf rows;
    for (const Expr& index : load->operands) {
      rows.emplace_back();
      if (loop::IsConstInt(index)) continue;
      if (index->kind != ExprKind::kVar) return std::nullopt;
      for (size_t d = 0; d < form.nest.loops.size(); ++d) {
        if (form.nest.loops[d]->var.SameAs(index)) rows.back() = RowsOf(form.buffer)[d];
      }
    }
    return rows;
  }

 private:
  // The results' axes with which reductions are loaded.
  bool FindRowsOfResults() {
    const RowForm& results = forms_.back();
    RowAxesOf rows(results.nest.loops.size());
    bool found = false;
    for (const Expr& load : results.Loads()) {
      if (!reductions_.contains(load->buffer.get())) continue;
      found = true;
      for (const Expr& index : load->operands) {
        for (size_t d = 0; d < rows.size(); ++d) {
          if (results.nest.loops[d]->var.SameAs(index)) rows[d] = d;
        }
      }
    }
    for (size_t d = 0; d < rows.size(); ++d) {
      if (rows[d]) axes_.push_back(d);
    }
    rows_[results.buffer.get()] = std::move(rows);
    return found && !axes_.empty();
  }

  // What is known of a stage's axes holds of those that it loads.
  bool HandOn(const RowForm& form) {
    for (const Expr& load : form.Loads()) {
      if (load->buffer->role != loop::Role::kWorkspace) continue;
      const std::optional<RowAxesOf> rows = RowsOfLoad(form, load);
      if (!rows) return false;
      const auto [known, is_new] = rows_.try_emplace(load->buffer.get(), *rows);
      if (!is_new && known->second != *rows) return false;
    }
    return true;
  }

  const Sequence& s_;
  std::vector<RowForm> forms_;
  std::set<const loop::BufferNode*> reductions_;
  std::map<const loop::BufferNode*, RowAxesOf> rows_;
  std::vector<size_t> axes_;
};

// The loops of a stage along the row with several iterations, outermost first.
std::vector<Stmt> ColumnLoops(const RowForm& form, const RowAxesOf& rows) {
  std::vector<Stmt> loops;
  for (size_t d = 0; d < rows.size(); ++d) {
    if (!rows[d] && ExtentOfLoop(form.nest.loops[d]) > 1) loops.push_back(form.nest.loops[d]);
  }
  for (const Stmt& step : form.steps) {
    if (ExtentOfLoop(step) > 1) loops.push_back(step);
  }
  return loops;
}

// Buffers of the run phase that several launches load.
std::set<std::string> LoadedByStages(const loop::Nest& nest) {
  std::set<std::string> loaded;
  for (const Buffer& buffer : nest.buffers) {
    int64_t readers = 0;
    for (const loop::Launch& launch : nest.launches) {
      readers += Loads(launch.body, buffer) && !Stores(launch.body, buffer) ? 1 : 0;
    }
    if (readers > 1) loaded.insert(buffer->name);
  }
  return loaded;
}

// A stage that computes elements which need not be kept, since it has not one for each of a row.
std::optional<Stage> StageToInline(const RowFinder& found, bool keeps) {
  for (size_t i = 0; i + 1 < found.forms().size(); ++i) {
    const RowForm& form = found.forms()[i];
    if (form.reduces) continue;
    const RowAxesOf& rows = found.RowsOf(form.buffer);
    if (!keeps || !found.HasAllRows(rows) || ColumnLoops(form, rows).empty()) {
      return Stage(form.buffer->name);
    }
  }
  return std::nullopt;
}

// Inputs of which several stages load the same element of a row get a stage that copies it.
void KeepInputs(Sequence* s, const RowFinder& found) {
  for (const std::string& name : LoadedByStages(s->nest())) {
    const Buffer buffer = BufferOf(s->nest(), name);
    if (buffer->role != loop::Role::kInput && buffer->role != loop::Role::kConstant) continue;
    std::optional<RowAxesOf> known;
    bool same = true;
    std::vector<Stage> readers;
    for (const RowForm& form : found.forms()) {
      bool reads = false;
      for (const Expr& load : form.Loads()) {
        if (load->buffer != buffer) continue;
        const std::optional<RowAxesOf> rows = found.RowsOfLoad(form, load);
        same = same && rows && (!known || known == rows);
        known = rows;
        reads = true;
      }
      if (reads) readers.emplace_back(form.buffer->name);
    }
    if (same && known && found.HasAllRows(*known)) s->CacheRead(name, readers);
  }
}

// Whether a load is of neighbours as the variable goes up by one.
bool GoesAlong(const Expr& load, const Expr& var) {
  for (size_t d = load->operands.size(); d-- > 0;) {
    if (load->buffer->shape[d] == 1) continue;
    return loop::Linear::Of(load->operands[d]).CoefficientOf(var) == 1;
  }
  return false;
}

std::optional<size_t> AxisOfRows(const RowFinder& found) {
  for (size_t i = found.axes().size(); i-- > 0;) {
    if (found.shape()[found.axes()[i]] > 1) return found.axes()[i];
  }
  return found.axes().empty() ? std::nullopt : std::optional(found.axes().back());
}

// Which elements threads side by side take, from the terms that depend on row and column; nullopt
// where there are none, or neighbours are neither of a row nor of `row_axis`.
std::optional<bool> AreApart(const RowFinder& found, size_t row_axis) {
  bool by_row = false;
  for (const RowForm& form : found.forms()) {
    if (!form.reduces) continue;
    const RowAxesOf& rows = found.RowsOf(form.buffer);
    const Expr column = ColumnLoops(form, rows).back()->var;
    for (const Expr& load : form.Loads()) {
      bool has_all = loop::UsesVar(load, column);
      Expr row;
      for (size_t d = 0; d < rows.size(); ++d) {
        const Expr var = form.nest.loops[d]->var;
        has_all = has_all && (ExtentOfLoop(form.nest.loops[d]) == 1 || loop::UsesVar(load, var));
        if (rows[d] == row_axis) row = var;
      }
      if (!has_all) continue;
      if (GoesAlong(load, column)) return false;
      by_row = by_row || (row && GoesAlong(load, row));
    }
  }
  return by_row ? std::optional(true) : std::nullopt;
}

void CountBytes(const RowFinder& found, GridRows* rows) {
  std::set<const loop::BufferNode*> before;
  for (const RowForm& form : found.forms()) {
    const std::vector<Stmt> columns = ColumnLoops(form, found.RowsOf(form.buffer));
    if (columns.empty()) continue;
    for (const Expr& load : form.Loads()) {
      if (load->buffer->role == loop::Role::kWorkspace) continue;
      if (!loop::UsesVar(load, columns.back()->var)) continue;
      const auto bytes = static_cast<double>(SizeBytes(load->buffer->dtype));
      (before.insert(load->buffer.get()).second ? rows->moved_bytes : rows->repeated_bytes) +=
          bytes;
    }
  }
  const RowForm& results = found.forms().back();
  if (!rows->results().column.empty()) {
    rows->moved_bytes += static_cast<double>(SizeBytes(results.buffer->dtype));
  }
}

// What threads need to know of the stages that were found; nullopt where they differ in columns.
std::optional<GridRows> GridRowsOf(const Sequence& s, const RowFinder& found) {
  GridRows rows{.s = s, .stages = {}, .axes = found.axes()};
  for (const RowForm& form : found.forms()) {
    RowStage stage{.stage = Stage(form.buffer->name),
                   .reduces = form.reduces,
                   .rows = found.RowsOf(form.buffer),
                   .column = {}};
    const std::vector<Stmt> columns = ColumnLoops(form, stage.rows);
    if (form.reduces && (columns.empty() || !found.HasAllRows(stage.rows))) return std::nullopt;
    rows.reductions += form.reduces ? 1 : 0;
    // Axes of a reduction's results are rows.
    if (form.reduces && columns.size() > form.steps.size()) return std::nullopt;
    if (!columns.empty()) {
      int64_t elements = 1;
      for (const Stmt& loop : columns) elements *= ExtentOfLoop(loop);
      stage.column = Loop(columns.back()->var->name);
      for (size_t d = 0; d < form.nest.loops.size(); ++d) {
        if (form.nest.loops[d] == columns.back()) stage.column_axis = d;
      }
      const int64_t extent = ExtentOfLoop(columns.back());
      if (rows.columns != 1 && (rows.columns != extent || rows.row_elements != elements)) {
        return std::nullopt;
      }
      rows.columns = extent;
      rows.row_elements = elements;
    }
    rows.stages.push_back(std::move(stage));
  }
  const std::optional<size_t> axis = AxisOfRows(found);
  if (!axis) return std::nullopt;
  const std::optional<bool> apart = AreApart(found, *axis);
  if (!apart) return std::nullopt;
  rows.row_axis = *axis;
  rows.row_extent = found.shape()[*axis];
  rows.apart = *apart;
  for (const size_t row : rows.axes) rows.count *= found.shape()[row];
  CountBytes(found, &rows);
  return rows;
}

}  // namespace

int64_t GridRows::KeptRows() const { return static_cast<int64_t>(stages.size()) - reductions - 1; }

std::optional<GridRows> ViewGridRows(const ops::KernelDefinition& def, bool keeps) {
  if (OutputsOf(def.naive).size() != 1) return std::nullopt;
  Sequence s(def.naive);
  InlineCheapStages(&s, keeps ? LoadedByStages(def.naive) : std::set<std::string>());
  JoinAxes(&s);
  // Results that a reduction leaves are copied, so that there is a stage for what threads do last.
  const std::string output = OutputsOf(s.nest())[0]->name;
  const std::optional<RowForm> last = FormOfStage(s.nest(), s.nest().launches.size() - 1);
  if (last && last->reduces && last->buffer->name == output) s.CacheWrite(Stage(output));
  // Each round inlines a stage, or is the last one.
  for (bool inputs_kept = !keeps;;) {
    RowFinder found(s);
    if (!s.ok() || !found.Run()) return std::nullopt;
    if (const std::optional<Stage> stage = StageToInline(found, keeps)) {
      s.Inline(*stage);
    } else if (!inputs_kept) {
      KeepInputs(&s, found);
      inputs_kept = true;
    } else {
      return GridRowsOf(s, found);
    }
  }
}

std::optional<GridRows> ViewReduction(const Sequence& s, const Stage& stage) {
  const absl::StatusOr<Buffer> buffer = FindBuffer(s.nest(), stage.buffer());
  if (!buffer.ok() || (*buffer)->shape.empty()) return std::nullopt;
  const absl::StatusOr<size_t> launch = WriterOf(s.nest(), *buffer);
  if (!launch.ok() || s.nest().launches[*launch].phase != loop::Phase::kRun) return std::nullopt;
  const std::optional<RowForm> form = FormOfStage(s.nest(), *launch);
  if (!form || !form->reduces) return std::nullopt;
  const std::vector<Stmt>& axes = form->nest.loops;
  const Stmt& column = form->steps.back();
  const bool has_own_terms = std::ranges::any_of(form->Loads(), [&](const Expr& load) {
    return GoesAlong(load, column->var) && std::ranges::all_of(axes, [&](const Stmt& axis) {
             return ExtentOfLoop(axis) == 1 || loop::UsesVar(load, axis->var);
           });
  });
  if (!has_own_terms) return std::nullopt;
  GridRows rows{.s = s, .stages = {}, .axes = {}};
  const Stage sums = rows.s.CacheWrite(stage);
  RowAxesOf all;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const int64_t extent = ExtentOfLoop(axes[axis]);
    rows.axes.push_back(axis);
    rows.count *= extent;
    all.emplace_back(axis);
    if (extent > 1 || axis == 0) {
      rows.row_axis = axis;
      rows.row_extent = extent;
    }
  }
  rows.columns = rows.row_elements = ExtentOfLoop(column);
  for (const Stmt& step : form->steps) {
    if (step != column) rows.row_elements *= ExtentOfLoop(step);
  }
  rows.reductions = 1;
  rows.stages = {{.stage = sums,
                  .reduces = true,
                  .rows = all,
                  .column = Loop(stage.NameIn(sums, column->var->name))},
                 {.stage = stage, .reduces = false, .rows = all, .column = {}}};
  return rows.s.ok() ? std::optional(std::move(rows)) : std::nullopt;
}

}  // namespace hone::schedule
