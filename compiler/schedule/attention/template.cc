// Attention: scores = query x keys, a softmax of each row of them, result = weights x values, in
// one launch. A thread takes a block of rows of one head: its scores and weights stay in the
// caches, so that the matrix of all scores, rows x keys for each head, is nowhere. Both products
// are register tiles; keys and values are packed by launches of their own where they are not in
// order. Each of the three steps as a launch with its results in memory is a strategy too: which is
// faster is measured.
#include <algorithm>
#include <memory>

#include "compiler/schedule/attention/loops.h"
#include "compiler/schedule/attention/view.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/product/sums.h"
#include "compiler/schedule/rewrite/row_loops.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/rewrite/stage_schedule.h"
#include "compiler/schedule/templates.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

constexpr int kRank = 3;  // of the products: heads, rows, units

Sequence Inlined(const ops::KernelDefinition& def, const AttentionView& view) {
  Sequence s(def.naive);
  for (const std::string& stage : view.inlined) s.Inline(Stage(stage));
  return s;
}

struct Attention {
  AttentionView view;
  int64_t lanes = 0, registers = 0, l1_bytes = 0, l2_bytes = 0;
  std::shared_ptr<const MicroKernelTimes> times;
  bool computes_keys = false, computes_values = false;  // by a stage of the kernel
  // Whether lanes are neighbours where they lie, or come from, and fill whole vectors.
  bool keys_in_order = false, values_in_order = false;
};

// Whether the product whose sums are `sums` can read its right operand in place.
bool ReadsInOrder(const ops::KernelDefinition& def, const AttentionView& view,
                  const std::string& operand, bool is_computed, const std::string& sums) {
  Sequence s = Inlined(def, view);
  if (is_computed) s.Inline(Stage(operand));
  return s.ok() && ReadsUnitsInOrder(s.nest(), Stage(sums));
}

Attention AttentionOf(const Task& task) {
  const ops::KernelDefinition& def = *task.def;
  Attention attention;
  attention.view = *ViewAttention(def);
  attention.lanes = task.machine.vector.FloatLanes();
  attention.registers = task.machine.vector.registers;
  attention.l1_bytes = task.machine.memory.l1.size_bytes;
  attention.l2_bytes = task.machine.memory.l2.size_bytes;
  attention.times = task.micro_kernels;
  const auto is_computed = [&](const std::string& buffer) {
    return BufferOf(def.naive, buffer)->role == loop::Role::kWorkspace;
  };
  attention.computes_keys = is_computed(attention.view.keys);
  attention.computes_values = is_computed(attention.view.values);
  attention.keys_in_order = attention.view.moves_keys &&
                            attention.view.key_count % attention.lanes == 0 &&
                            ReadsInOrder(def, attention.view, attention.view.keys,
                                         attention.computes_keys, attention.view.scores);
  attention.values_in_order = attention.view.moves_values &&
                              attention.view.units % attention.lanes == 0 &&
                              ReadsInOrder(def, attention.view, attention.view.values,
                                           attention.computes_values, attention.view.sums);
  return attention;
}

// ---- the space ----

// The bytes of the scores and weights of a block of so many rows.
int64_t BlockBytes(const Attention& attention, int64_t rows) {
  return 2 * rows * attention.view.key_count * 4;
}

// Rows of a block, as even as can be; it has room in the second cache, unless the smallest block
// has none.
std::vector<int64_t> BlockOptions(const Attention& attention) {
  std::vector<int64_t> options;
  for (const int64_t wanted : {8, 16, 32, 64, 128}) {
    const int64_t blocks = CeilDiv(attention.view.rows, wanted);
    const int64_t block = CeilDiv(attention.view.rows, blocks);
    const bool fits = BlockBytes(attention, block) <= attention.l2_bytes;
    if (!options.empty() && (block == options.back() || !fits)) continue;
    options.push_back(block);
  }
  return options;
}

int64_t AttentionBlock(const Attention& attention, const Config& config) {
  return config.String("strategy") == "blocks" ? config.Int("block") : attention.view.rows;
}

RegisterTileProblem ScoreTiles(const Attention& attention, int64_t block) {
  RegisterTileProblem problem;
  problem.vectors = CeilDiv(attention.view.key_count, attention.lanes);
  problem.columns = block;
  problem.steps = attention.view.depth;
  problem.registers = attention.registers;
  problem.vector_bytes = attention.lanes * 4;
  problem.l2_bytes = attention.l2_bytes;
  problem.times = attention.times;  // threads share heads and blocks, so none of a block's tiles
  problem.l1_bytes = attention.l1_bytes;
  return problem;
}

RegisterTileProblem ResultTiles(const Attention& attention, int64_t block) {
  RegisterTileProblem problem = ScoreTiles(attention, block);
  problem.vectors = CeilDiv(attention.view.units, attention.lanes);
  problem.steps = attention.view.key_count;
  return problem;
}

// The knobs of the second product have names of their own.
RegisterTile ResultTileOf(const Config& config) {
  return {config.Int("result_v"), 1, config.Int("result_w")};
}

std::optional<Knob> NextResultTileKnob(const RegisterTileProblem& problem, const Config& prefix) {
  Config own;
  if (prefix.Has("result_v")) {
    own.Set("tile_v", prefix.Int("result_v"));
    own.Set("tile_h", int64_t{1});
  }
  if (prefix.Has("result_w")) own.Set("tile_w", prefix.Int("result_w"));
  std::optional<Knob> knob = NextTileKnob(problem, own);
  if (knob) knob->name = knob->name == "tile_v" ? "result_v" : "result_w";
  return knob;
}

std::vector<std::string> OperandOptions(bool in_order) {
  if (in_order) return {"in_place", "packed"};
  return {"packed"};
}

std::optional<Knob> NextAttentionKnob(const Attention& attention, const machine::Machine& machine,
                                      const Config& prefix) {
  if (!prefix.Has("strategy")) return TextKnob("strategy", {"blocks", "apart"});
  if (prefix.String("strategy") == "blocks" && !prefix.Has("block")) {
    return IntKnob("block", BlockOptions(attention));
  }
  const int64_t block = AttentionBlock(attention, prefix);
  if (auto knob = NextTileKnob(ScoreTiles(attention, block), prefix)) return knob;
  if (!prefix.Has("steps")) {
    return IntKnob("steps", UnrollOptions({2, 4}, attention.view.depth, TileOf(prefix)));
  }
  if (auto knob = NextResultTileKnob(ResultTiles(attention, block), prefix)) return knob;
  if (!prefix.Has("result_steps")) {
    return IntKnob("result_steps",
                   UnrollOptions({2, 4}, attention.view.key_count, ResultTileOf(prefix)));
  }
  if (!prefix.Has("keys")) return TextKnob("keys", OperandOptions(attention.keys_in_order));
  if (!prefix.Has("values")) return TextKnob("values", OperandOptions(attention.values_in_order));
  return NextRowKnob(attention.view.key_count, machine, prefix);
}

// Enough rows for a few register tiles to share a panel of the right operand; more where that
// leaves the second cache to the panels; fewer where threads would be without work.
int64_t DefaultBlock(const Attention& attention, int64_t threads) {
  constexpr int64_t kRows = 32;
  const AttentionView& view = attention.view;
  const std::vector<int64_t> options = BlockOptions(attention);
  int64_t block = options[0];
  for (const int64_t option : options) {
    const bool small = 4 * BlockBytes(attention, option) <= attention.l2_bytes;
    const int64_t blocks = view.heads * CeilDiv(view.rows, option);
    if (option <= (small ? 2 * kRows : kRows) && blocks >= 4 * threads) block = option;
  }
  return block;
}

Config DefaultOf(const Attention& attention, const machine::Machine& machine) {
  Config config;
  config.Set("strategy", std::string("blocks"));
  const int64_t block = DefaultBlock(attention, machine.Threads());
  config.Set("block", block);
  SetTile(BestTile(ScoreTiles(attention, block)), &config);
  config.Set("steps", int64_t{1});
  const RegisterTile result = BestTile(ResultTiles(attention, block));
  config.Set("result_v", result.vectors);
  config.Set("result_w", result.columns);
  config.Set("result_steps", int64_t{1});
  config.Set("keys", OperandOptions(attention.keys_in_order)[0]);
  config.Set("values", OperandOptions(attention.values_in_order)[0]);
  SetDefaultRow(attention.view.key_count, machine, &config);
  return config;
}

// ---- the schedule ----

class AttentionSchedule {
 public:
  AttentionSchedule(const Task& task, const Attention& attention, const Config& config)
      : task_(task),
        attention_(attention),
        view_(attention.view),
        config_(config),
        s_(Inlined(*task.def, attention.view)),
        in_blocks_(config.String("strategy") == "blocks"),
        block_(AttentionBlock(attention, config)),
        out_(Stage(view_.output)),
        logits_(Stage(view_.logits)) {}

  absl::StatusOr<loop::Nest> Run() && {
    scores_.stage = SumsBehind(logits_, view_.scores);
    scores_.unroll = config_.Int("steps");
    result_.stage = SumsBehind(out_, view_.sums);
    result_.unroll = config_.Int("result_steps");
    for (ProductSums* sums : {&scores_, &result_}) {
      sums->rank = kRank;
      sums->lanes = attention_.lanes;
    }
    PlaceOperand(view_.keys, attention_.computes_keys, config_.String("keys"), TileOf(config_));
    PlaceOperand(view_.values, attention_.computes_values, config_.String("values"),
                 ResultTileOf(config_));
    ComputeResult();
    ComputeWeights();
    ComputeScores();
    ScheduleRows();
    for (const Stage& copy : copies_) ScheduleCopy(copy);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  Loop LogitsAxis(const Stage& stage, int from_last) const {
    return stage.Axis(static_cast<size_t>(view_.logits_rank - from_last));
  }

  // The stage of a product's sums: apart from that of what is made of them.
  ProductLoops SumsBehind(const Stage& result, const std::string& sums) {
    const bool is_result = result.buffer() == sums;
    return ProductLoops(is_result ? s_.CacheWrite(result) : Stage(sums));
  }

  // Where it is not read in place, a right operand is copied into panels as wide as a tile.
  void PlaceOperand(const std::string& operand, bool is_computed, const std::string& place,
                    const RegisterTile& tile) {
    if (place == "in_place") {
      if (is_computed) s_.Inline(Stage(operand));
      return;
    }
    const Layout panels = BlockedLayout(kRank, 1, tile.vectors * attention_.lanes);
    if (is_computed) {
      s_.SetLayout(operand, panels);
      copies_.emplace_back(operand);
      return;
    }
    const Stage packed = s_.Pack(operand, panels);
    if (BufferOf(s_.nest(), operand)->role == loop::Role::kInput) copies_.push_back(packed);
  }

  // Heads and panels are the grid: more of it would be steps of a vector or two.
  void ScheduleCopy(const Stage& copy) {
    StageOptions options;
    options.lanes = attention_.lanes;
    options.grid = 2;
    options.turn = true;
    ScheduleStage(&s_, copy, options);
  }

  // The last two axes of a stage in register tiles: blocks of units outside, so that a panel of
  // the right operand serves all rows of the block.
  void TileStage(const AttentionLoops& stage, const Loop& rows, const Loop& units,
                 const RegisterTile& tile) {
    s_.SplitIfPresent(units, attention_.lanes, Tail::kGuard, stage.Vectors(), stage.Lane());
    s_.SplitIfPresent(stage.Vectors(), tile.vectors, Tail::kClip, stage.UnitBlocks(),
                      stage.UnitVectors());
    s_.SplitIfPresent(rows, tile.columns, Tail::kClip, stage.RowBlocks(), stage.Rows());
    s_.ReorderPresent(
        {stage.UnitBlocks(), stage.RowBlocks(), stage.Rows(), stage.UnitVectors(), stage.Lane()});
    s_.VectorizeAll(stage.Lane());
  }

  void ParallelTiles(const AttentionLoops& stage) {
    s_.ParallelIfPresent(stage.UnitBlocks());
    s_.ParallelIfPresent(stage.RowBlocks());
  }

  void ComputeResult() {
    Loop rows = out_.Axis(1);
    if (in_blocks_) {
      rows = s_.Split(rows, block_, Tail::kClip, out_.Blocks(), out_.BlockRows()).inner;
    }
    TileStage(out_, rows, out_.Axis(2), ResultTileOf(config_));
    s_.Parallel(out_.Axis(0));
    if (in_blocks_) {
      s_.Parallel(out_.Blocks());
    } else {
      ParallelTiles(out_);
    }
    SumInRegisters(&s_, result_, out_.RowBlocks());
  }

  // Rows one after the other, each in all steps of the softmax.
  void ComputeWeights() {
    const Stage weights(view_.weights);
    Loop row = LogitsAxis(weights, 2);
    if (in_blocks_) {
      ComputeInBlock(weights);
      if (!s_.Has(row)) row = out_.Blocks();
    } else {
      for (const Loop& axis : OuterAxes(weights, 1)) s_.Parallel(axis);
    }
    for (const std::string& stage : {view_.scale, view_.total, view_.exp, view_.max}) {
      s_.ComputeAt(Stage(stage), row);
    }
  }

  void ComputeScores() {
    if (in_blocks_) ComputeInBlock(logits_);
    TileStage(logits_, LogitsAxis(logits_, 2), LogitsAxis(logits_, 1), TileOf(config_));
    if (!in_blocks_) {
      for (const Loop& axis : OuterAxes(logits_, 2)) s_.Parallel(axis);
      ParallelTiles(logits_);
    }
    SumInRegisters(&s_, scores_,
                   s_.LastOf({out_.Blocks(), logits_.UnitBlocks(), logits_.RowBlocks()}));
  }

  // All but so many of the last.
  std::vector<Loop> OuterAxes(const Stage& stage, int last) const {
    return stage.Axes(static_cast<size_t>(view_.logits_rank - last));
  }

  // Rows of a power of two of bytes meet in the same cache sets.
  void ComputeInBlock(const Stage& stage) {
    ComputeAtOptions options;
    options.scope = loop::Scope::kLocal;
    constexpr int64_t kSetBytes = 1024;
    if (view_.key_count * 4 % kSetBytes == 0) {
      options.slack.assign(static_cast<size_t>(view_.logits_rank), 0);
      options.slack.back() = attention_.lanes;
    }
    s_.ComputeAt(stage, out_.Blocks(), options);
  }

  // NaN reaches all results of a row by its sum, so its maximum need not hand it on. AArch64's does
  // for nothing.
  void ScheduleRows() {
    const RowSchedule row = RowScheduleOf(config_, !task_.machine.vector.max_hands_nan_on);
    for (const Loop& loop :
         {Stage(view_.max).Reduction(0), LogitsAxis(Stage(view_.exp), 1),
          Stage(view_.total).Reduction(0), LogitsAxis(Stage(view_.weights), 1)}) {
      if (s_.Has(loop)) ScheduleRowLoop(&s_, loop, row);
    }
  }

  // Whether blocks of rows, or the last one, are no whole number of tiles.
  bool HasRowTail(int64_t tile) const {
    return block_ % tile != 0 || view_.rows % block_ % tile != 0;
  }

  void SpecialiseTiles(const AttentionLoops& stage, int64_t units, const RegisterTile& tile,
                       const ProductSums& sums) {
    if (HasRowTail(tile.columns)) s_.PeelAll(stage.RowBlocks(), 0, 1);
    if (units % (tile.vectors * attention_.lanes) != 0) s_.PeelAll(stage.UnitBlocks(), 0, 1);
    s_.UnrollAll(stage.UnitVectors());
    s_.UnrollAll(stage.Rows());
    UnrollSums(&s_, sums);
  }

  // Tails get bodies of their own, of constant sizes.
  void Specialise() {
    s_.Simplify();
    if (in_blocks_ && view_.rows % block_ != 0) s_.PeelAll(out_.Blocks(), 0, 1);
    SpecialiseTiles(logits_, view_.key_count, TileOf(config_), scores_);
    SpecialiseTiles(out_, view_.units, ResultTileOf(config_), result_);
  }

  const Task& task_;
  const Attention& attention_;
  const AttentionView& view_;
  const Config& config_;
  Sequence s_;
  const bool in_blocks_;
  const int64_t block_;
  const AttentionLoops out_;
  const AttentionLoops logits_;
  ProductSums scores_, result_;
  std::vector<Stage> copies_;  // that a run makes
};

class AttentionPlan final : public Plan {
 public:
  explicit AttentionPlan(const Task& task) : task_(task), attention_(AttentionOf(task)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return NextAttentionKnob(attention_, task_.machine, prefix);
  }
  std::vector<PricedConfig> Ranked() const override {
    return {{DefaultOf(attention_, task_.machine)}};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return AttentionSchedule(task_, attention_, config).Run();
  }

 private:
  const Task task_;
  const Attention attention_;
};

class AttentionTemplateImpl : public Template {
 public:
  std::string_view name() const override { return "attention"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewAttention(def).has_value();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& machine) const override {
    return {RowMajorSignature(def)};
  }
  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<AttentionPlan>(task);
  }
};

}  // namespace

const Template& AttentionTemplate() {
  static const AttentionTemplateImpl instance;
  return instance;
}

}  // namespace hone::schedule
