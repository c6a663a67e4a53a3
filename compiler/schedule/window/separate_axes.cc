#include "compiler/schedule/window/separate_axes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/parts.h"
#include "compiler/schedule/price/issue.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/separate_windows.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/window/loops.h"

namespace hone::schedule {
namespace {

// Rows of results whose windows' rows are combined before them, and results side by side in
// registers.
struct AxesTile {
  int64_t rows = 1;
  int64_t columns = 1;
};

AxesTile AxesTileOf(const Config& config) { return {config.Int("block_h"), config.Int("tile_w")}; }

// How many places of the height (0) or the width (1) the windows of so many neighbours have.
int64_t PlacesOf(const Windowed& w, size_t axis, int64_t windows) {
  return (windows - 1) * w.window.strides[axis] + w.window.taps[axis];
}

// Whether elements have a stage of their own. Without it they are read where they lie.
bool CopiesElements(const Windowed& w) { return w.window.HasPadding() || !w.view.prologue.empty(); }

// For one block of channels and a block of rows: the elements, the rows of windows and the results,
// all in the caches of a thread.
class SeparateAxesSchedule {
 public:
  SeparateAxesSchedule(const Task& task, const Windowed& w, const AxesTile& tile)
      : task_(task), w_(w), tile_(tile), s_(task.def->naive), out_(Stage(w.view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    anchor_ = WindowLoops(FuseAroundAnchor(&s_, w_.view, ""));
    const SeparateStages stages = s_.SeparateWindows(anchor_, w_.window.strides);
    elements_ = WindowLoops(stages.elements);
    rows_ = WindowLoops(stages.rows);
    row_sums_ = WindowLoops(s_.CacheWrite(rows_));
    SetSignatureLayouts(&s_, task_);
    // There are whole vectors of channels to read.
    s_.SetLayout(rows_.buffer(), BlockedChannels(w_.rank(), w_.lanes));
    if (CopiesElements(w_)) {
      s_.SetLayout(elements_.buffer(), BlockedChannels(w_.rank(), w_.lanes));
    } else {
      s_.Inline(elements_);
    }
    // Lanes that gather are slower than a copy.
    const loop::Buffer operand = BufferOf(s_.nest(), w_.view.op->args[0]);
    Stage packed;
    if (operand != nullptr && operand->layout.BlockOf(1) != w_.lanes) {
      packed = s_.Pack(operand->name, BlockedChannels(w_.rank(), w_.lanes));
    }
    TileOutput();
    Combine(anchor_, out_.ColumnTiles());
    ComputeRows();
    if (CopiesElements(w_)) ComputeElements();
    for (const Loop& loop : {out_.Axis(0), out_.Vectors(), out_.RowTiles()}) s_.Parallel(loop);
    if (!packed.empty()) ScheduleDataStage(&s_, packed, w_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  // n, vectors and blocks of rows are the grid.
  void TileOutput() {
    s_.Split(out_.Axis(1), w_.lanes, Tail::kExact, out_.Vectors(), out_.Lane());
    s_.Split(out_.Axis(2), tile_.rows, Tail::kClip, out_.RowTiles(), out_.Row());
    s_.Split(out_.Axis(3), tile_.columns, Tail::kClip, out_.ColumnTiles(), out_.Column());
    s_.Reorder({out_.Axis(0), out_.Vectors(), out_.RowTiles(), out_.Row(), out_.ColumnTiles(),
                out_.Column(), out_.Lane()});
    s_.Vectorize(out_.Lane());
  }

  void ComputeStage(const Stage& stage, const Loop& at, loop::Scope scope) {
    ComputeAtOptions options;
    options.scope = scope;
    options.align = {1, w_.lanes, 1, 1};
    options.layout = BlockedChannels(w_.rank(), w_.lanes).ToString();
    s_.ComputeAt(stage, at, options);
  }

  // A reduction along one axis, of neighbours in registers.
  void Combine(const WindowLoops& stage, const Loop& at) {
    ComputeStage(stage, at, loop::Scope::kRegister);
    s_.Decompose(stage.Axis(1));
    for (const WindowLoops& part : {stage.Init(), stage}) SplitChannels(part);
    s_.ReorderPresent({stage.Init().Axis(3), stage.Init().Lane()});
    s_.ReorderPresent({stage.Reduction(0), stage.Axis(3), stage.Lane()});
    s_.VectorizeAll(stage.Lane());
  }

  void ComputeRows() {
    ComputeStage(rows_, out_.RowTiles(), loop::Scope::kLocal);
    SplitChannels(rows_);
    s_.Split(rows_.Axis(3), tile_.columns, Tail::kClip, rows_.ColumnTiles(), rows_.Column());
    s_.ReorderPresent({rows_.Axis(2), rows_.ColumnTiles(), rows_.Column(), rows_.Lane()});
    s_.VectorizeAll(rows_.Lane());
    Combine(row_sums_, rows_.ColumnTiles());
  }

  void ComputeElements() {
    ComputeStage(elements_, out_.RowTiles(), loop::Scope::kLocal);
    SplitChannels(elements_);
    s_.ReorderPresent({elements_.Axis(2), elements_.Axis(3), elements_.Lane()});
    s_.VectorizeAll(elements_.Lane());
  }

  void SplitChannels(const WindowLoops& stage) {
    s_.Split(stage.Axis(1), w_.lanes, Tail::kExact, stage.ChannelVectors(), stage.Lane());
  }

  // Padding and shorter tiles apart, of constant extents.
  void Specialise() {
    s_.Simplify();
    if (w_.height % tile_.rows != 0) s_.PeelAll(out_.RowTiles(), 0, 1);
    if (w_.width % tile_.columns != 0) {
      for (const WindowLoops& stage : {out_, rows_}) s_.PeelAll(stage.ColumnTiles(), 0, 1);
    }
    if (CopiesElements(w_)) LeaveTheMiddleWithoutTests();
    s_.Simplify();
    for (const WindowLoops& stage : {out_, rows_}) s_.UnrollAll(stage.Column());
    for (const WindowLoops& stage : {anchor_, row_sums_}) {
      s_.UnrollAll(stage.Axis(3));
      s_.UnrollAll(stage.Init().Axis(3));
    }
    if (w_.window.taps[0] * tile_.columns <= kMaxEmittedFmas) s_.UnrollAll(anchor_.Reduction(0));
    if (w_.window.taps[1] * tile_.columns <= kMaxEmittedFmas) s_.UnrollAll(row_sums_.Reduction(0));
  }

  // Whether a row is padding is asked once for it, and at its ends alone whether an element is.
  void LeaveTheMiddleWithoutTests() {
    s_.PeelAll(elements_.Axis(3), w_.window.before[1], w_.window.after[1]);
    s_.Unswitch(elements_.Axis(3));
  }

  const Task& task_;
  const Windowed& w_;
  const AxesTile tile_;
  Sequence s_;
  const WindowLoops out_;
  WindowLoops anchor_;
  WindowLoops elements_, rows_, row_sums_;
};

// Even blocks of rows. The more there are, the fewer rows of windows are combined more than once.
std::vector<int64_t> BlockOptions(const Windowed& w) {
  return EvenSizes(w.height, w.height, [](int64_t) { return true; });
}

std::vector<int64_t> ColumnOptions(const Windowed& w) {
  constexpr int64_t kMost = 8;
  return EvenSizes(w.width, std::min(kMost, w.Accumulators()), [](int64_t) { return true; });
}

// ---- the price ----

// One vector's part of the kernel: the cycles to combine windows as they are, each tap an operation
// that loads it.
double DirectCycles(const Windowed& w, const machine::IssueRates& issue) {
  const auto taps = static_cast<double>(w.Taps());
  return static_cast<double>(w.height * w.width) * IssueCycles(issue, taps, taps);
}

// The same axis by axis in blocks of so many rows: a load and a store of each element that has a
// stage, and a store of each row of windows beside the operations.
double SeparateCycles(const Windowed& w, const machine::IssueRates& issue, int64_t block) {
  const auto down = static_cast<double>(w.window.taps[0]);
  const auto along = static_cast<double>(w.window.taps[1]);
  const double store = 1 / issue.stores_a_cycle;
  const auto elements = static_cast<double>(CopiesElements(w) ? PlacesOf(w, 1, w.width) : 0);
  const auto columns = static_cast<double>(w.width);
  double cycles = 0;
  for (const auto& [rows, blocks] : Parts(w.height, block)) {
    const auto places = static_cast<double>(PlacesOf(w, 0, rows));
    cycles += static_cast<double>(blocks) *
              (places * (elements * store + columns * (IssueCycles(issue, along, along) + store)) +
               static_cast<double>(rows) * columns * IssueCycles(issue, down, down));
  }
  return cycles;
}

// With what lies between the steps in half of the second cache.
bool FitsCache(const Windowed& w, const machine::Machine& machine, int64_t block) {
  const int64_t columns = w.width + (CopiesElements(w) ? PlacesOf(w, 1, w.width) : 0);
  const int64_t bytes = PlacesOf(w, 0, block) * columns * w.lanes * 4;
  return machine.memory.l2.size_bytes == 0 || 2 * bytes <= machine.memory.l2.size_bytes;
}

struct PricedBlock {
  int64_t rows = 1;
  double cycles = 0;  // of one vector's part, on one core, as if threads shared it evenly
};

// The cheapest block that leaves the threads even shares.
PricedBlock BestBlock(const Windowed& w, const machine::Machine& machine) {
  PricedBlock best;
  for (const int64_t block : BlockOptions(w)) {
    const int64_t shares = w.view.shape[0] * w.vectors * CeilDiv(w.height, block);
    const double cycles =
        SeparateCycles(w, machine.issue, block) * LargestPart(shares, machine.Threads());
    const bool is_first = best.cycles == 0;
    if (!is_first && (cycles >= best.cycles || !FitsCache(w, machine, block))) continue;
    best = {block, cycles};
  }
  return best;
}

class SeparateAxesPlan final : public Plan {
 public:
  explicit SeparateAxesPlan(std::shared_ptr<const Problem<Windowed>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("block_h")) return IntKnob("block_h", BlockOptions(windowed()));
    if (!prefix.Has("tile_w")) return IntKnob("tile_w", ColumnOptions(windowed()));
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override {
    const machine::Machine& machine = problem_->task.machine;
    const PricedBlock block = BestBlock(windowed(), machine);
    PricedConfig best;
    best.config.Set("block_h", block.rows);
    best.config.Set("tile_w", ColumnOptions(windowed()).back());
    best.cycles = block.cycles *
                  static_cast<double>(windowed().view.shape[0] * windowed().vectors) /
                  static_cast<double>(machine.Threads());
    return {std::move(best)};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return SeparateAxesSchedule(problem_->task, windowed(), AxesTileOf(config)).Run();
  }

 private:
  const Windowed& windowed() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Windowed>> problem_;
};

bool CanSeparate(const Windowed& w) {
  const auto is_one = [](int64_t step) { return step == 1; };
  return !w.depthwise && !w.is_strict && w.spatial == 2 &&
         std::ranges::all_of(w.window.dilation, is_one);
}

// The prices leave out loops and what they wait for: only where much less is to be done.
bool Pays(const Windowed& w, const machine::Machine& machine) {
  constexpr double kMargin = 1.25;
  return kMargin * BestBlock(w, machine).cycles < DirectCycles(w, machine.issue);
}

}  // namespace

std::unique_ptr<const Plan> OpenSeparateAxes(
    const std::shared_ptr<const Problem<Windowed>>& problem) {
  const Windowed& w = problem->kernel;
  if (!CanSeparate(w) || !Pays(w, problem->task.machine)) return nullptr;
  return std::make_unique<SeparateAxesPlan>(problem);
}

}  // namespace hone::schedule
