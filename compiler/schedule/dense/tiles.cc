#include "compiler/schedule/dense/tiles.h"

#include <vector>

#include "compiler/schedule/price/tile_block.h"
#include "compiler/schedule/product/loops.h"
#include "compiler/schedule/product/output.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

int64_t DotsOf(const Dense& dense) { return DotsOfStep(dense.terms, dense.dot); }

TileBlockProblem BlockProblem(const Dense& dense) {
  TileBlockProblem problem;
  problem.vectors = CeilDiv(dense.units, dense.lanes);
  problem.rows = dense.rows;
  problem.steps = CeilDiv(dense.steps, DotsOf(dense));
  problem.grid = dense.batch;
  problem.threads = dense.machine.Threads();
  problem.shares_rows = true;
  return problem;
}

// "in_place": as they lie; "packed": a copy, of one tile behind the other. Terms that do not fill
// the last step need the zeros behind them.
std::vector<std::string> LeftOptions(const Dense& dense) {
  if (dense.terms % (DotsOf(dense) * dense.dot) != 0) return {"packed"};
  return {"in_place", "packed"};
}

class DenseTilesSchedule {
 public:
  DenseTilesSchedule(const Task& task, const Dense& dense, const Config& config)
      : task_(task),
        dense_(dense),
        config_(config),
        block_(BlockOf(config)),
        rows_(RowsOfTile(dense.rows)),
        dots_(DotsOf(dense)),
        s_(task.def->naive),
        out_(Stage(dense.view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    copy_ = ProductLoops(FuseAroundAnchor(&s_, dense_.view, dense_.copies_data ? dense_.data : ""));
    sums_ = ProductLoops(s_.CacheWrite(copy_, UnitLanes().ToString()));
    SetSignatureLayouts(&s_, task_);
    const std::vector<Stage> packed = Pack();
    inner_ = TileDenseOutput(&s_, dense_, OutputBlock(), config_.String("order"));
    TileSums();
    for (const Stage& copy : packed) ScheduleDataStage(&s_, copy, dense_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  RegisterTile OutputBlock() const { return {block_.vectors, 1, block_.tiles * rows_}; }
  Layout UnitLanes() const { return BlockedLayout(dense_.rank(), dense_.rank() - 1, dense_.lanes); }

  // Returns the copies that a run makes before the product.
  std::vector<Stage> Pack() {
    std::vector<Stage> copies;
    std::string right;
    if (dots_ > 1) right += fmt::format("{}{}", dots_, dense_.Letter(1));
    right += fmt::format("{}{}{}{}", block_.vectors * dense_.lanes, dense_.Letter(2), dense_.dot,
                         dense_.Letter(1));
    const Stage weight = s_.Pack(dense_.weight, dense_.LayoutOf(right));
    const bool runs = BufferOf(s_.nest(), dense_.weight)->role == loop::Role::kInput;
    if (runs) copies.push_back(weight);
    if (config_.String("left") == "packed") {
      copies.push_back(PackLeft());
    } else if (dense_.copies_data) {
      copies.emplace_back(dense_.data);
    }
    s_.SumPadLanes(sums_.Reduction(0), dots_ * dense_.dot);
    return copies;
  }

  // Steps outermost, so that the rows of a tile are one piece of memory.
  Stage PackLeft() {
    std::string axes = AxisLetters(dense_.rank());
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    const Layout layout = *Layout::Parse(
        fmt::format("{}{}{}", axes, dots_ * dense_.dot, dense_.Letter(1)), dense_.rank());
    if (!dense_.copies_data) return s_.Pack(dense_.data, layout);
    s_.SetLayout(dense_.data, layout);
    return Stage(dense_.data);
  }

  // Sums of a block, and their copy in memory, which the epilogue reads.
  void TileSums() {
    ComputeAtOptions options;
    options.align.assign(static_cast<size_t>(dense_.rank()), 1);
    options.align.back() = dense_.lanes;
    options.layout = UnitLanes().ToString();
    s_.ComputeAt(copy_, inner_, options);
    options.scope = loop::Scope::kTile;
    s_.ComputeAt(sums_, inner_, options);
    s_.Decompose(dense_.Axis(sums_, 2));
    for (const ProductLoops& stage : {copy_, sums_.Init(), sums_}) SplitTiles(stage);
    const Loop step = sums_.Reduction(0);
    s_.Split(step, dots_ * dense_.dot, Tail::kExact, step, sums_.Terms());
    s_.Split(sums_.Terms(), dense_.dot, Tail::kExact, sums_.Terms(), sums_.Dot());
    s_.Reorder({step, sums_.RowTiles(), sums_.UnitVectors(), sums_.Rows(), sums_.Terms(),
                sums_.Lane(), sums_.Dot()});
  }

  void SplitTiles(const ProductLoops& stage) {
    const auto [vectors, lane] = s_.Split(dense_.Axis(stage, 1), dense_.lanes, Tail::kExact,
                                          stage.UnitVectors(), stage.Lane());
    const auto [tiles, rows] =
        s_.Split(dense_.Axis(stage, 2), rows_, Tail::kClip, stage.RowTiles(), stage.Rows());
    s_.Reorder({tiles, vectors, rows, lane});
    s_.VectorizeAll(lane);
  }

  // Tails get bodies of their own, of constant sizes; each tile is a place of its own.
  void Specialise() {
    s_.Simplify();
    PeelDenseOutput(&s_, dense_, OutputBlock());
    s_.UnrollAll(out_.UnitVectors());
    s_.DotAll(sums_.Dot());
    for (const ProductLoops& part : {copy_, sums_}) {  // those that set to zero are copies of these
      if (dense_.rows % rows_ != 0) s_.PeelAll(part.RowTiles(), 0, 1);
      for (const Loop& loop : {part.RowTiles(), part.UnitVectors()}) s_.UnrollAll(loop);
      s_.TileAll(part.Rows());
    }
  }

  const Task& task_;
  const Dense& dense_;
  const Config& config_;
  TileBlock block_;
  int64_t rows_;  // of a tile
  int64_t dots_;  // of a step
  Sequence s_;
  ProductLoops out_;
  ProductLoops copy_;  // of the sums, in memory
  ProductLoops sums_;
  Loop inner_;  // the inner loop of the grid
};

class DenseTilesPlan final : public Plan {
 public:
  explicit DenseTilesPlan(std::shared_ptr<const Problem<Dense>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (auto knob = NextBlockKnob(BlockProblem(dense()), prefix)) return knob;
    if (!prefix.Has("order")) return TextKnob("order", {"n_m", "m_n"});
    if (!prefix.Has("left")) return TextKnob("left", LeftOptions(dense()));
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override {
    const TileBlockProblem problem = BlockProblem(dense());
    PricedConfig best;
    const TileBlock block = BestBlock(problem);
    SetBlock(block, &best.config);
    best.config.Set("order", std::string("n_m"));
    best.config.Set("left", LeftOptions(dense())[0]);
    best.cycles = BlockCycles(problem, block);
    return {std::move(best)};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return DenseTilesSchedule(problem_->task, dense(), config).Run();
  }

 private:
  const Dense& dense() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Dense>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenDenseTiles(const std::shared_ptr<const Problem<Dense>>& problem) {
  const Dense& dense = problem->kernel;
  if (dense.rows == 1 || !HasTiles(dense.machine, dense.kind)) return nullptr;
  return std::make_unique<DenseTilesPlan>(problem);
}

}  // namespace hone::schedule
