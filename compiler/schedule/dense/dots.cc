#include "compiler/schedule/dense/dots.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "compiler/schedule/parts.h"
#include "compiler/schedule/price/issue.h"
#include "compiler/schedule/price/reading.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/product/loops.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {
namespace {

// Results that are summed at once, each in `parts` vectors.
struct DotTile {
  int64_t rows = 1;
  int64_t units = 1;
  int64_t parts = 1;

  int64_t Vectors() const { return rows * units * parts; }
};

// Beside the sums, the rows' vectors and one of the units'.
bool FitsDotRegisters(const DotTile& tile, int64_t registers) {
  return tile.Vectors() + tile.rows + 1 <= registers;
}

// Rows of the data, of which all that a tile does not take come again for every tile of units.
std::vector<int64_t> RowOptions(const Dense& dense) {
  constexpr int64_t kMost = 8;
  return EvenSizes(dense.rows, kMost, [&](int64_t rows) {
    return FitsDotRegisters(DotTile{rows, 1, 1}, dense.machine.vector.registers);
  });
}

std::vector<int64_t> UnitOptions(const Dense& dense, int64_t rows) {
  std::vector<int64_t> options;
  for (const int64_t units : {1, 2, 4, 8}) {
    if (units <= dense.units &&
        FitsDotRegisters(DotTile{rows, units, 1}, dense.machine.vector.registers)) {
      options.push_back(units);
    }
  }
  return options;
}

std::vector<int64_t> PartOptions(const Dense& dense, int64_t rows, int64_t units) {
  std::vector<int64_t> options;
  for (const int64_t parts : {1, 2, 4, 8}) {
    if (parts * dense.lanes <= dense.terms &&
        FitsDotRegisters(DotTile{rows, units, parts}, dense.machine.vector.registers)) {
      options.push_back(parts);
    }
  }
  return options;
}

std::vector<DotTile> TilesOf(const Dense& dense) {
  std::vector<DotTile> tiles;
  for (const int64_t rows : RowOptions(dense)) {
    for (const int64_t units : UnitOptions(dense, rows)) {
      for (const int64_t parts : PartOptions(dense, rows, units)) {
        tiles.push_back({rows, units, parts});
      }
    }
  }
  return tiles;
}

DotTile DotTileOf(const Config& config) {
  return {config.Int("rows"), config.Int("units"), config.Int("parts")};
}

// The cycles of one tile with all that it reads in the first cache, on a machine as BestTile's: two
// multiplications of four cycles' latency and two loads a cycle. At the end the lanes of every sum
// are halved, a shuffle and an addition each, four a cycle, and functions are computed of a row's
// units at once: of one unit alone they take as long as of eight. Short tiles overlap.
double CyclesOfTile(const Dense& dense, const DotTile& tile) {
  constexpr double kStart = 4;
  constexpr int64_t kAhead = 128;  // multiplications
  const int64_t steps = CeilDiv(dense.terms, dense.lanes * tile.parts);
  const machine::IssueRates& issue = dense.machine.issue;
  const auto multiply_adds = static_cast<double>(tile.Vectors());
  const auto loads = static_cast<double>((tile.rows + tile.units) * tile.parts);
  const bool waits = steps * tile.Vectors() > kAhead;
  const double step =
      waits ? StepCycles(issue, multiply_adds, loads) : IssueCycles(issue, multiply_adds, loads);
  const auto halvings = std::bit_width(static_cast<uint64_t>(dense.lanes)) - 1;
  const double finish = static_cast<double>(2 * halvings + tile.parts + 2) / 4;
  return kStart + static_cast<double>(steps) * (step + kLoopCycles) +
         static_cast<double>(tile.rows * tile.units) * finish +
         FunctionCycles(dense, tile.rows * CeilDiv(tile.units, dense.lanes));
}

// In which the tiles of some units read all rows, and these units again for each of them but the
// first, where the first cache does not keep them.
double CyclesToReadAgain(const Dense& dense, const DotTile& tile) {
  const auto far = [&](int64_t bytes) {
    return 2 * bytes > dense.machine.memory.l1.size_bytes ? bytes : 0;
  };
  const int64_t row_bytes = dense.terms * 4;
  const int64_t again = CeilDiv(dense.rows, tile.rows) - 1;
  const int64_t bytes = far(dense.rows * row_bytes) + again * far(tile.units * row_bytes);
  return static_cast<double>(bytes) / dense.machine.memory.l2.read_bytes_a_cycle;
}

// On one core. Several units are as many streams, which together come slower than one (measured on
// Zen 5: 0.85 of its rate from memory, 0.7 from the second cache).
double CyclesOf(const Dense& dense, const DotTile& tile) {
  constexpr double kStreams = 1.2;
  double computing = 0, again = 0;
  for (const auto& [units, unit_tiles] : Parts(dense.units, tile.units)) {
    const auto tiles = static_cast<double>(unit_tiles);
    again += tiles * CyclesToReadAgain(dense, {tile.rows, units, tile.parts});
    for (const auto& [rows, row_tiles] : Parts(dense.rows, tile.rows)) {
      computing +=
          tiles * static_cast<double>(row_tiles) * CyclesOfTile(dense, {rows, units, tile.parts});
    }
  }
  const auto batch = static_cast<double>(dense.batch);
  const double reading = ReadRightCycles(dense) * (tile.units > 1 ? kStreams : 1);
  return WhileReading(batch * computing, batch * again + reading);
}

class DenseDotsSchedule {
 public:
  DenseDotsSchedule(const Task& task, const Dense& dense, const Config& config)
      : task_(task),
        dense_(dense),
        tile_(DotTileOf(config)),
        s_(task.def->naive),
        out_(Stage(dense.view.output)),
        copies_data_(dense.copies_data || dense.copies_for_terms) {}

  absl::StatusOr<loop::Nest> Run() && {
    sums_ = ProductLoops(FuseAroundAnchor(&s_, dense_.view, copies_data_ ? dense_.data : ""));
    SetSignatureLayouts(&s_, task_);
    TileOutput();
    TileSums();
    if (copies_data_) ScheduleDataStage(&s_, Stage(dense_.data), dense_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  // [for the batch,] for UnitBlocks, RowBlocks (the grid) { for Rows, Units }.
  void TileOutput() {
    s_.Split(dense_.Axis(out_, 1), tile_.units, Tail::kClip, out_.UnitBlocks(), out_.Units());
    s_.Split(dense_.Axis(out_, 2), tile_.rows, Tail::kClip, out_.RowBlocks(), out_.Rows());
    s_.Reorder({out_.UnitBlocks(), out_.RowBlocks(), out_.Rows(), out_.Units()});
    if (dense_.batched) s_.Parallel(out_.Axis(0));
    for (const Loop& loop : {out_.UnitBlocks(), out_.RowBlocks()}) s_.Parallel(loop);
  }

  // Terms outermost; a vector of a unit's serves all rows.
  void TileSums() {
    s_.ComputeAt(sums_, out_.RowBlocks());
    const Loop rows = dense_.Axis(sums_, 2), units = dense_.Axis(sums_, 1);
    const Loop terms = sums_.Reduction(0);
    if (s_.Has(rows) || s_.Has(units)) s_.Decompose(s_.FirstOf({rows, units}));
    s_.ReorderPresent({terms, units, rows});
    s_.ReduceByLanes(terms, dense_.lanes, tile_.parts);
  }

  // Smaller tiles at the ends get bodies of their own, of constant sizes.
  void Specialise() {
    s_.Simplify();
    if (dense_.rows % tile_.rows != 0) s_.PeelAll(out_.RowBlocks(), 0, 1);
    if (dense_.units % tile_.units != 0) s_.PeelAll(out_.UnitBlocks(), 0, 1);
    s_.Simplify();
    s_.UnrollAll(out_.Rows());
    s_.VectorizeAll(out_.Units());
    for (const int axis : {2, 1}) s_.UnrollAll(dense_.Axis(sums_, axis));
  }

  const Task& task_;
  const Dense& dense_;
  DotTile tile_;
  Sequence s_;
  ProductLoops out_;
  ProductLoops sums_;
  bool copies_data_;
};

class DenseDotsPlan final : public Plan {
 public:
  explicit DenseDotsPlan(std::shared_ptr<const Problem<Dense>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("rows")) return IntKnob("rows", RowOptions(dense()));
    const int64_t rows = prefix.Int("rows");
    if (!prefix.Has("units")) return IntKnob("units", UnitOptions(dense(), rows));
    const int64_t units = prefix.Int("units");
    if (!prefix.Has("parts")) return IntKnob("parts", PartOptions(dense(), rows, units));
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override {
    const std::vector<DotTile> tiles = TilesOf(dense());
    const DotTile tile = *std::ranges::min_element(
        tiles, {}, [&](const DotTile& option) { return CyclesOf(dense(), option); });
    PricedConfig best;
    best.config.Set("rows", tile.rows);
    best.config.Set("units", tile.units);
    best.config.Set("parts", tile.parts);
    best.cycles = CyclesOf(dense(), tile) / static_cast<double>(dense().machine.Threads());
    return {std::move(best)};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return DenseDotsSchedule(problem_->task, dense(), config).Run();
  }

 private:
  const Dense& dense() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Dense>> problem_;
};

}  // namespace

// Where there are many rows, each reads the right operand again, and packing it is little beside
// that.
bool HasDenseDots(const Dense& dense) {
  constexpr int64_t kMostRows = 32;
  return dense.terms_in_order && dense.rows <= kMostRows && dense.lanes > 1 &&
         dense.terms >= dense.lanes;
}

std::unique_ptr<const Plan> OpenDenseDots(const std::shared_ptr<const Problem<Dense>>& problem) {
  if (!HasDenseDots(problem->kernel)) return nullptr;
  return std::make_unique<DenseDotsPlan>(problem);
}

}  // namespace hone::schedule
