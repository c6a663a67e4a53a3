#include "compiler/schedule/generic/block_rows_schedule.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

// Values that each thread combines for itself. More are combined by a few threads first, which
// costs a barrier.
constexpr int64_t kMostParts = 16;
// Elements of a thread whose loop is unrolled, so that their loads overlap. What is kept of a row
// is always unrolled, for only then it stays in registers.
constexpr int64_t kUnrolledElements = 8;

// The loop `from` has of this name is that of `to`.
Loop Renamed(const Stage& from, const Stage& to, const Loop& loop) {
  return Loop(from.NameIn(to, loop.name()));
}

// The loops that a loop along a row becomes: over the threads, over rounds of steps of one thread,
// over these steps, which are unrolled, and over the neighbours of a step. Those over rounds and
// neighbours are empty where there is one.
struct ColumnShares {
  Loop threads, rounds, steps, run;
  bool is_guarded = false;

  std::vector<Loop> OfThread() const {
    std::vector<Loop> loops;
    for (const Loop& loop : {rounds, steps, run}) {
      if (!loop.empty()) loops.push_back(loop);
    }
    return loops;
  }
};

// Steps of a thread that are unrolled; 0: all of them.
int64_t UnrolledSteps(const GridRows& rows, const RowBlock& block) {
  const bool has_all = rows.KeptRows() > 0 || block.Elements(rows) <= kUnrolledElements;
  return has_all ? 0 : std::max<int64_t>(kUnrolledElements / block.run, 1);
}

// Threads side by side have elements side by side.
ColumnShares ShareColumns(Sequence* s, const Loop& loop, const GridRows& rows,
                          const RowBlock& block) {
  ColumnShares shares;
  Loop runs = loop;
  if (block.run > 1) {
    const SplitLoops split = s->Split(loop, block.run, Tail::kExact);
    runs = split.outer;
    shares.run = split.inner;
  }
  const int64_t unrolled = UnrolledSteps(rows, block);
  const int64_t at_once = block.threads * std::max<int64_t>(unrolled, 1);
  shares.is_guarded = rows.columns / block.run % at_once != 0;
  const Tail tail = shares.is_guarded ? Tail::kGuard : Tail::kExact;
  const SplitLoops split = s->Split(runs, at_once, tail, {}, runs.Share());
  shares.threads = split.inner;
  shares.steps = split.outer;
  if (unrolled == 0) return shares;
  shares.rounds = split.outer;
  shares.steps =
      s->Split(runs.Share(), block.threads, Tail::kExact, runs.Steps(), runs.Share()).outer;
  return shares;
}

// The stages that a reduction becomes.
struct Combined {
  // A thread's elements, and what all threads have of them. Then what a few threads combine of
  // that, where they do; else both are empty.
  Stage own, parts, few_own, few;
  std::vector<Stage> totals;  // for each reader
};

class RowScheduler {
 public:
  RowScheduler(Sequence* s, const GridRows& rows, const RowBlock& block)
      : s_(s), rows_(rows), block_(block), combined_(rows.stages.size()) {}

  void Run() {
    const std::vector<std::vector<size_t>> readers = Readers();
    for (size_t i = 0; i < rows_.stages.size(); ++i) {
      if (rows_.stages[i].reduces) DivideReduction(i);
    }
    for (size_t i = 0; i < rows_.stages.size(); ++i) {
      if (rows_.stages[i].reduces) AddTotals(i, readers[i]);
    }
    ScheduleResults();
    for (size_t i = rows_.stages.size() - 1; i-- > 0;) {
      if (rows_.stages[i].reduces) {
        PlaceReduction(i, readers[i]);
      } else {
        PlaceElements(rows_.stages[i]);
      }
    }
    for (const Loop& loop : grid_) s_->Parallel(loop);
    for (const RowStage& stage : rows_.stages) KeepInRegisters(stage);
    // Only the last round of a row may be behind its end.
    for (const Loop& loop : guarded_) s_->PeelAll(loop, 0, 1);
    if (!guarded_.empty()) s_->Simplify();
    s_->UnrollPresent(unrolled_);
  }

 private:
  // Those stages that load each of them.
  std::vector<std::vector<size_t>> Readers() const {
    std::vector<std::vector<size_t>> readers(rows_.stages.size());
    for (size_t i = 0; i < rows_.stages.size(); ++i) {
      const loop::Buffer buffer = BufferOf(s_->nest(), rows_.stages[i].stage.buffer());
      for (size_t j = i + 1; j < rows_.stages.size(); ++j) {
        const loop::Buffer filled = BufferOf(s_->nest(), rows_.stages[j].stage.buffer());
        const absl::StatusOr<size_t> launch = WriterOf(s_->nest(), filled);
        if (!launch.ok()) {
          s_->Fail(launch.status());
        } else if (Loads(s_->nest().launches[*launch].body, buffer)) {
          readers[i].push_back(j);
        }
      }
    }
    return readers;
  }

  void DivideReduction(size_t i) {
    const Stage& stage = rows_.stages[i].stage;
    Combined& combined = combined_[i];
    const ColumnShares shares = ShareColumns(s_, rows_.stages[i].column, rows_, block_);
    combined.parts = s_->Rfactor(shares.threads, block_.threads);
    if (block_.HasTwoLevels()) {
      const SplitLoops split = s_->Split(stage.Partials(), block_.Parts(), Tail::kExact);
      combined.few = s_->Rfactor(split.inner, block_.Parts());
      combined.few_own = s_->CacheWrite(combined.few);
      const Loop terms = Renamed(stage, combined.few, split.outer);
      unrolled_.push_back(Renamed(combined.few, combined.few_own, terms));
    }
    combined.own = s_->CacheWrite(combined.parts);
    AddOwnLoops(shares, [&](const Loop& loop) {
      return Renamed(combined.parts, combined.own, Renamed(stage, combined.parts, loop));
    });
  }

  // The loops of a thread, by the names that they have in the end.
  template <typename Name>
  void AddOwnLoops(const ColumnShares& shares, const Name& name) {
    if (shares.is_guarded && !shares.rounds.empty()) guarded_.push_back(name(shares.rounds));
    unrolled_.push_back(name(shares.steps));
    if (!shares.run.empty()) unrolled_.push_back(name(shares.run));
  }

  // Every reader combines the last values itself, so that no thread waits for one that does.
  void AddTotals(size_t i, const std::vector<size_t>& readers) {
    for (const size_t reader : readers) {
      const Stage& stage = rows_.stages[i].stage;
      const Stage loads =
          rows_.stages[reader].reduces ? combined_[reader].own : rows_.stages[reader].stage;
      const bool is_last = reader == readers.back();
      const Stage total = is_last ? stage : s_->Clone(stage, loads);
      combined_[i].totals.push_back(total);
      unrolled_.push_back(Renamed(stage, total, stage.Partials()));
    }
  }

  // The axis of a stage's buffer along which the block has rows; nullopt: the block has one.
  std::optional<size_t> AxisOfBlock(const RowStage& stage) const {
    if (block_.rows == 1) return std::nullopt;
    const auto found = std::ranges::find(stage.rows, std::optional(rows_.row_axis));
    if (found == stage.rows.end()) return std::nullopt;
    return static_cast<size_t>(found - stage.rows.begin());
  }

  // Threads side by side are those of a row, or of rows side by side.
  std::vector<Loop> InOrder(const Loop& row, const Loop& column) const {
    std::vector<Loop> order;
    if (rows_.apart && !column.empty()) order.push_back(column);
    if (!row.empty()) order.push_back(row);
    if (!rows_.apart && !column.empty()) order.push_back(column);
    return order;
  }

  // The loops in this order, which are all that are there; the first `threads` are threads.
  void Bind(const std::vector<Loop>& threads, const std::vector<Loop>& own) {
    std::vector<Loop> order = threads;
    order.insert(order.end(), own.begin(), own.end());
    s_->ReorderPresent(order);
    for (const Loop& loop : threads) s_->Threads(loop);
  }

  void ScheduleResults() {
    const RowStage& results = rows_.results();
    const Stage& stage = results.stage;
    const Loop row = stage.Axis(rows_.row_axis);
    for (const size_t axis : rows_.axes) {
      if (axis != rows_.row_axis) grid_.push_back(stage.Axis(axis));
    }
    grid_.push_back(s_->Split(row, block_.rows, Tail::kExact, row.Block(), row).outer);
    std::vector<Loop> own;
    for (size_t axis = 0; axis < results.rows.size(); ++axis) {
      const bool is_column = !results.column.empty() && axis == results.column_axis;
      if (!results.rows[axis] && !is_column) own.push_back(stage.Axis(axis));
    }
    Loop columns;
    if (!results.column.empty()) columns = ShareElements(results.column, &own);
    const bool has_row = block_.rows > 1 || columns.empty();
    const std::vector<Loop> threads = InOrder(has_row ? row : Loop(), columns);
    std::vector<Loop> order = grid_;
    order.insert(order.end(), threads.begin(), threads.end());
    if (!has_row) order.push_back(row);
    order.insert(order.end(), own.begin(), own.end());
    s_->Reorder(order);
    for (const Loop& loop : threads) s_->Threads(loop);
    at_[stage.buffer()] = threads.back();
  }

  // Answers the loop over threads; those of each are added to `own`.
  Loop ShareElements(const Loop& column, std::vector<Loop>* own) {
    const ColumnShares shares = ShareColumns(s_, column, rows_, block_);
    for (const Loop& loop : shares.OfThread()) own->push_back(loop);
    AddOwnLoops(shares, [](const Loop& loop) { return loop; });
    return shares.threads;
  }

  void PlaceElements(const RowStage& elements) {
    const Stage& stage = elements.stage;
    s_->ComputeAt(stage, grid_.back());
    std::vector<Loop> own;
    for (size_t axis = 0; axis < elements.rows.size(); ++axis) {
      if (!elements.rows[axis] && axis != elements.column_axis) own.push_back(stage.Axis(axis));
    }
    const Loop columns = ShareElements(elements.column, &own);
    const std::optional<size_t> row = AxisOfBlock(elements);
    const std::vector<Loop> threads = InOrder(row ? stage.Axis(*row) : Loop(), columns);
    Bind(threads, own);
    at_[stage.buffer()] = threads.back();
  }

  // The stage of a value of each of some threads of a row.
  void PlaceParts(const RowStage& reduction, const Stage& parts, const Stage& own) {
    ComputeAtOptions options{.scope = loop::Scope::kShared, .align = {}, .layout = {}};
    const size_t rank = reduction.rows.size() + 1;
    if (block_.rows > 1 && !rows_.apart) {
      const std::string letters = Layout::RowMajor(static_cast<int>(rank)).ToString();
      options.layout = letters.substr(1) + letters[0];
    }
    s_->ComputeAt(parts, grid_.back(), options);
    const std::optional<size_t> row = AxisOfBlock(reduction);
    const std::vector<Loop> threads = InOrder(row ? parts.Axis(*row + 1) : Loop(), parts.Axis(0));
    Bind(threads, {});
    at_[own.buffer()] = threads.back();
    s_->ComputeAt(own, threads.back());
  }

  void PlaceReduction(size_t i, const std::vector<size_t>& readers) {
    const RowStage& reduction = rows_.stages[i];
    const Combined& combined = combined_[i];
    for (size_t reader = 0; reader < readers.size(); ++reader) {
      const RowStage& by = rows_.stages[readers[reader]];
      const Stage& loads = by.reduces ? combined_[readers[reader]].own : by.stage;
      s_->ComputeAt(combined.totals[reader], at_[loads.buffer()]);
    }
    if (!combined.few.empty()) PlaceParts(reduction, combined.few, combined.few_own);
    PlaceParts(reduction, combined.parts, combined.own);
  }

  // Gives each loop of a row a dimension, by which it is known what part is whose.
  void KeepInRegisters(const RowStage& stage) {
    const bool is_results = stage.stage == rows_.results().stage;
    if (stage.reduces || is_results) return;
    const std::string& buffer = stage.stage.buffer();
    s_->SplitAxis(buffer, stage.column_axis, block_.threads * block_.run);
    if (block_.run > 1) s_->SplitAxis(buffer, stage.column_axis + 1, block_.run);
  }

  Sequence* const s_;
  const GridRows& rows_;
  const RowBlock block_;
  std::vector<Combined> combined_;  // by stage
  std::vector<Loop> grid_;          // outermost first
  std::vector<Loop> guarded_;       // of a thread, whose last iteration may be behind a row's end
  std::vector<Loop> unrolled_;      // of a thread
  std::map<std::string, Loop> at_;  // the innermost loop over threads of a stage, by buffer
};

}  // namespace

int64_t RowBlock::Elements(const GridRows& view) const {
  return CeilDiv(view.columns, threads * run) * run * (view.row_elements / view.columns);
}

int64_t RowBlock::Parts() const {
  if (threads <= kMostParts) return threads;
  const auto bits = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(threads)));
  return int64_t{1} << (bits / 2);
}

void ComputeRowsByBlocks(Sequence* s, const GridRows& rows, const RowBlock& block) {
  RowScheduler(s, rows, block).Run();
}

}  // namespace hone::schedule
