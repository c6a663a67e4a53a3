#include "compiler/schedule/dense/direct_schedule.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/product/output.h"
#include "compiler/schedule/product/sums.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

// Tiles of rows that share a chunk of the right operand: their sums lie in memory, near enough to
// be added to for every chunk. Threads that have no panel of their own share the tiles.
int64_t TilesOfBlock(const Dense& dense, const RegisterTile& tile) {
  const int64_t tiles = CeilDiv(dense.rows, tile.columns);
  const int64_t panels = CeilDiv(dense.units, tile.vectors * dense.lanes);
  const int64_t bytes = tile.columns * tile.vectors * dense.lanes * 4;
  const int64_t fit = std::max<int64_t>(2 * dense.machine.memory.l1.size_bytes / bytes, 1);
  const int64_t blocks =
      std::max(CeilDiv(tiles, fit), CeilDiv(dense.machine.Threads(), dense.batch * panels));
  return CeilDiv(tiles, blocks);
}

// Panels of a right operand in place that take turns where one tile has all rows: their sums lie in
// half of the first cache. Threads share what there is.
int64_t PanelsOfBlock(const Dense& dense, const RegisterTile& tile) {
  const int64_t panels = CeilDiv(dense.units, tile.vectors * dense.lanes);
  const int64_t bytes = dense.rows * tile.vectors * dense.lanes * 4;
  const int64_t fit = std::max<int64_t>(dense.machine.memory.l1.size_bytes / 2 / bytes, 1);
  const int64_t blocks =
      std::max(CeilDiv(panels, fit), CeilDiv(dense.machine.Threads(), dense.batch));
  return CeilDiv(panels, blocks);
}

class DenseSchedule {
 public:
  DenseSchedule(const Task& task, const Dense& dense, const Config& config)
      : task_(task),
        dense_(dense),
        config_(config),
        tile_(TileOf(config)),
        s_(task.def->naive),
        out_(Stage(dense.view.output)),
        packs_(config.String("right") == "packed"),
        masks_units_(!packs_ && MasksUnits(dense)) {}

  virtual ~DenseSchedule() = default;
  DenseSchedule(const DenseSchedule&) = delete;
  DenseSchedule& operator=(const DenseSchedule&) = delete;

  absl::StatusOr<loop::Nest> Run() && {
    std::string kept = dense_.copies_data ? dense_.data : "";
    if (dense_.copies_weight && packs_) kept = dense_.weight;
    anchor_ = ProductLoops(FuseAroundAnchor(&s_, dense_.view, kept));
    if (config_.String("epilogue") == "memory") {
      tile_copy_ = anchor_;
      anchor_ = ProductLoops(s_.CacheWrite(tile_copy_));
    }
    SetSignatureLayouts(&s_, task_);
    const std::vector<Stage> packed = Pack();
    const std::string& order = config_.String("order");
    inner_ = masks_units_ ? TileDenseOutputExactly(&s_, dense_, tile_, order)
                          : TileDenseOutput(&s_, dense_, OutputBlock(), order);
    ComputeSums();
    if (masks_units_) MaskDenseUnits(&s_, dense_);
    if (dense_.copies_data) {
      ScheduleDataStage(&s_, Stage(dense_.data), dense_.machine.vector.FloatLanes());
    }
    for (const Stage& copy : packed) ScheduleDataStage(&s_, copy, dense_.lanes);
    Specialise();
    if (dense_.dot > 1) s_.DotAll(anchor_.Dot());
    return std::move(s_).Finish();
  }

 protected:
  // These are what ChunkedDense does otherwise. What an iteration of the grid's inner loop
  // computes:
  virtual RegisterTile OutputBlock() const { return tile_; }
  virtual void ComputeSums() {
    if (!tile_copy_.empty()) CopyFromRegisters(&s_, Sums(tile_copy_), inner_);
    SumInRegisters(&s_, Sums(anchor_), inner_);
    Prefetch();
  }
  virtual void UnrollTile() {
    s_.UnrollAll(out_.UnitVectors());
    if (tile_copy_.empty()) {
      s_.UnrollAll(out_.Rows());
    } else {
      UnrollSums(&s_, Sums(tile_copy_));
    }
    UnrollSums(&s_, Sums(anchor_));
  }

  const Task& task_;
  const Dense& dense_;
  const Config& config_;
  RegisterTile tile_;
  Sequence s_;
  ProductLoops out_;
  ProductLoops anchor_;
  Loop inner_;  // the inner loop of the grid

 private:
  ProductSums Sums(const ProductLoops& stage) const {
    return {.stage = stage,
            .rank = dense_.rank(),
            .lanes = dense_.lanes,
            .dot = dense_.dot,
            .unroll = config_.Int("unroll"),
            .masks_units = masks_units_};
  }

  // Copies that a run makes before the product.
  std::vector<Stage> Pack() {
    std::vector<Stage> copies;
    if (!packs_) return copies;
    const int64_t width = tile_.vectors * dense_.lanes;
    std::string blocks = fmt::format("{}{}", width, dense_.Letter(2));
    if (dense_.dot > 1) blocks += fmt::format("{}{}", dense_.dot, dense_.Letter(1));
    packed_ = Stage(dense_.weight);
    if (dense_.copies_weight) {
      s_.SetLayout(dense_.weight, dense_.LayoutOf(blocks));
      return {packed_};
    }
    packed_ = s_.Pack(dense_.weight, dense_.LayoutOf(blocks));
    if (BufferOf(s_.nest(), dense_.weight)->role == loop::Role::kInput) copies.push_back(packed_);
    if (dense_.dot == 1) return copies;
    if (dense_.terms % dense_.dot != 0) {
      const Layout layout = dense_.LayoutOf(fmt::format("{}{}", dense_.dot, dense_.Letter(1)));
      if (dense_.copies_data) {
        s_.SetLayout(dense_.data, layout);
      } else {
        copies.push_back(s_.Pack(dense_.data, layout));
      }
    }
    s_.SumPadLanes(anchor_.Reduction(0), dense_.dot);
    return copies;
  }

  void Prefetch() {
    const std::string& lines = config_.String("prefetch");
    if (lines == "none") return;
    if (lines == "stream") return PrefetchStream();
    const bool unrolled = config_.Int("unroll") > 1;
    PrefetchOptions options;
    options.ahead = out_.UnitBlocks();
    options.turn = out_.RowBlocks();
    options.inner = anchor_.UnitVectors();
    if (lines == "unrolled") options.also = anchor_.Unrolled();
    s_.Prefetch(unrolled && lines == "step" ? anchor_.Unrolled() : anchor_.Reduction(0),
                packed_.buffer(), options);
  }

  // What the processor fetches ahead by itself ends at its pages: from memory, layers of 8 to 400
  // MB were measured to take 4 to 11 % less time so.
  void PrefetchStream() {
    PrefetchRegionOptions options;
    options.ahead = {out_.UnitBlocks(), anchor_.Reduction(0)};
    constexpr int64_t kAheadBytes = 4096;
    options.distance =
        CeilDiv(kAheadBytes, config_.Int("unroll") * tile_.vectors * machine::kLineBytes);
    options.turns = {anchor_.Unrolled()};
    options.line_axis = static_cast<size_t>(dense_.rank() - 2);
    s_.PrefetchRegion(packed_.buffer(), options);
  }

  void Specialise() {
    s_.Simplify();
    PeelDenseOutput(&s_, dense_, OutputBlock());
    UnrollTile();
  }

  ProductLoops tile_copy_;  // the tile once more, in memory; empty: none
  Stage packed_;            // the right operand, or what it is packed into
  bool packs_;              // the right operand
  bool masks_units_;        // of the last vector
};

// Tiles of a block take turns, each for a chunk of the steps: their sums lie in memory, and are in
// registers for a chunk. They are of several rows, or, where one tile has all, of several panels.
//   for [the batch,] UnitBlocks, RowBlocks (the grid) {
//     for Chunks, UnitTiles, RowTiles { steps of the tile }; for Rows, UnitVectors { .. } }
class ChunkedDense : public DenseSchedule {
 public:
  using DenseSchedule::DenseSchedule;

 private:
  bool TurnsPanels() const { return dense_.rows <= tile_.columns; }
  RegisterTile OutputBlock() const override {
    if (TurnsPanels()) {
      return {PanelsOfBlock(dense_, tile_) * tile_.vectors, 1, tile_.columns};
    }
    return {tile_.vectors, 1, TilesOfBlock(dense_, tile_) * tile_.columns};
  }

  void ComputeSums() override {
    ComputeAtOptions options;
    options.scope = loop::Scope::kLocal;
    options.align.assign(static_cast<size_t>(dense_.rank()), 1);
    options.align.back() = dense_.lanes;
    options.layout = BlockedLayout(dense_.rank(), dense_.rank() - 1, dense_.lanes).ToString();
    s_.ComputeAt(anchor_, inner_, options);
    const Loop rows = dense_.Axis(anchor_, 2), units = dense_.Axis(anchor_, 1);
    s_.Decompose(s_.FirstOf({rows, units}));
    // Its vectors stay loops: they are none of the tile's.
    s_.Split(units.Init(), dense_.lanes, Tail::kExact, anchor_.Zeros(), anchor_.Init().Lane());
    s_.Split(units, dense_.lanes, Tail::kExact, anchor_.UnitVectors(), anchor_.Lane());
    const Loop step = anchor_.Reduction(0);
    s_.Split(anchor_.UnitVectors(), tile_.vectors, Tail::kClip, anchor_.UnitTiles(),
             anchor_.UnitVectors());
    s_.SplitIfPresent(rows, tile_.columns, Tail::kClip, anchor_.RowTiles(), anchor_.Rows());
    s_.Split(step, config_.Int("chunk"), Tail::kClip, anchor_.Chunks(), step);
    const int64_t unroll = config_.Int("unroll");
    if (unroll > 1) s_.Split(step, unroll, Tail::kExact, step, anchor_.Unrolled());
    s_.ReorderPresent({anchor_.Chunks(), anchor_.UnitTiles(), anchor_.RowTiles(), step,
                       anchor_.Unrolled(), anchor_.Rows(), anchor_.UnitVectors(), anchor_.Lane()});
    const Loop last = s_.LastOf({anchor_.UnitTiles(), anchor_.RowTiles()});
    chunk_sums_ = ProductLoops(s_.SumLocally(last));
    for (const ProductLoops& sums : {anchor_, chunk_sums_}) s_.VectorizeAll(sums.Lane());
  }

  void UnrollTile() override {
    if (dense_.rows % tile_.columns != 0) s_.PeelAll(anchor_.RowTiles(), 0, 1);
    const int64_t vectors = CeilDiv(dense_.units, dense_.lanes);
    if (TurnsPanels() && vectors % tile_.vectors != 0) s_.PeelAll(anchor_.UnitTiles(), 0, 1);
    if (!TurnsPanels()) s_.UnrollAll(out_.UnitVectors());
    for (const ProductLoops& sums : {anchor_, chunk_sums_}) {
      s_.UnrollPresent({sums.Rows(), sums.UnitVectors(), sums.Unrolled()});
    }
  }

  ProductLoops chunk_sums_;  // in registers
};

// The bytes of the right operand that a tile takes.
int64_t DensePanelBytes(const Dense& dense, const RegisterTile& tile) {
  return tile.vectors * dense.lanes * dense.steps * 4;
}

// The fewest chunks of whole unrolled steps whose part of a panel takes at most `bytes`.
int64_t ChunkWithin(const Dense& dense, const Config& prefix, int64_t bytes) {
  const int64_t unroll = prefix.Int("unroll");
  const int64_t steps = dense.steps / unroll;
  const int64_t step_bytes = prefix.Int("tile_v") * dense.lanes * 4 * unroll;
  const int64_t most = std::max<int64_t>(bytes / step_bytes, 1);
  return CeilDiv(steps, CeilDiv(steps, most)) * unroll;
}

// So few steps that the rows of units they read are as many streams.
std::vector<int64_t> PanelChunkOptions(const Dense& dense, const Config& prefix) {
  std::vector<int64_t> options = {0};
  if (PanelsOfBlock(dense, TileOf(prefix)) < 2) return options;
  for (const int64_t chunk : {4, 8, 16, 32}) {
    if (chunk % prefix.Int("unroll") == 0 && chunk < dense.steps) options.push_back(chunk);
  }
  return options;
}

}  // namespace

std::vector<int64_t> DenseLaneOptions(const Dense& dense) {
  // Where there are many vectors, saving half of one is not worth twice as many.
  constexpr int64_t kFewVectors = 4;
  const int64_t last = dense.units % dense.lanes;
  const int64_t half_lanes = dense.lanes / 2;
  const bool half = dense.kind == ProductKind::kFloat && dense.machine.vector.has_half_vectors &&
                    last > 0 && last <= half_lanes &&
                    CeilDiv(dense.units, dense.lanes) <= kFewVectors;
  if (half) return {dense.lanes, half_lanes};
  return {dense.lanes};
}

Dense OfLanes(Dense dense, const Config& config) {
  if (config.Has("lanes")) dense.lanes = config.Int("lanes");
  return dense;
}

bool MasksUnits(const Dense& dense) { return dense.units % dense.lanes != 0; }

std::vector<int64_t> DenseChunkOptions(const Dense& dense, const Config& prefix) {
  const RegisterTile tile = TileOf(prefix);
  const bool in_place = prefix.String("right") == "in_place";
  if (dense.kind != ProductKind::kFloat || (in_place && MasksUnits(dense)) ||
      prefix.String("epilogue") != "registers") {
    return {0};
  }
  if (in_place && dense.rows <= tile.columns) return PanelChunkOptions(dense, prefix);
  if (TilesOfBlock(dense, tile) < 2 ||
      2 * DensePanelBytes(dense, tile) <= dense.machine.memory.l2.size_bytes) {
    return {0};
  }
  // Half of the first cache, or a part of the second that leaves as much to the rows.
  std::vector<int64_t> options = {0};
  for (const int64_t bytes :
       {dense.machine.memory.l1.size_bytes / 2, dense.machine.memory.l2.size_bytes / 4}) {
    const int64_t chunk = ChunkWithin(dense, prefix, bytes);
    if (chunk < dense.steps && chunk != options.back()) options.push_back(chunk);
  }
  return options;
}

bool TakesChunks(const Config& config) { return config.Has("chunk") && config.Int("chunk") > 0; }

// A packed panel is read in order, and comes as fast from behind the second cache as it is needed.
// In place each step's lines are on a page of their own: with panels of 1.5 and 4 times the second
// cache chunks took 0.9 and 0.55 of the time on Zen 5, with smaller ones 0.9 to 1.05. One row,
// which has little to do for what it reads, took 0.45 to 0.8 by eight streams; with four rows sums
// in memory cost more than that saves.
int64_t DefaultDenseChunk(const Dense& dense, const Config& prefix) {
  constexpr int64_t kStreams = 8;
  const std::vector<int64_t> options = DenseChunkOptions(dense, prefix);
  if (options.size() == 1 || prefix.String("right") != "in_place") return 0;
  const RegisterTile tile = TileOf(prefix);
  if (dense.rows > tile.columns) {
    return DensePanelBytes(dense, tile) > dense.machine.memory.l2.size_bytes ? options[1] : 0;
  }
  const bool has_streams = std::ranges::find(options, kStreams) != options.end();
  return dense.rows == 1 && has_streams ? kStreams : 0;
}

absl::StatusOr<loop::Nest> ScheduleDenseDirect(const Task& task, const Dense& dense,
                                               const Config& config) {
  const Dense narrowed = OfLanes(dense, config);
  if (TakesChunks(config)) return ChunkedDense(task, narrowed, config).Run();
  return DenseSchedule(task, narrowed, config).Run();
}

}  // namespace hone::schedule
