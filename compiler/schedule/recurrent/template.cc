// One step of a recurrent net: a register tile of rows of the state by vectors of units, of all
// gates of these units, so that what the gates make of them is computed from registers and written
// once. Weights are packed so that each step of the sum reads the vectors of all gates in order,
// one stream.
#include <algorithm>
#include <utility>

#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/issue.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/product/loops.h"
#include "compiler/schedule/product/sums.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

struct Cell {
  std::string sums;
  std::string weight;
  std::vector<std::string> results;  // in the order in which they are computed
  int64_t rows = 0, gates = 0, units = 0, steps = 0;
  int64_t lanes = 0, registers = 0, l2_bytes = 0;
};

std::optional<Cell> ViewCell(const ops::KernelDefinition& def) {
  if (def.ops.size() != 1) return std::nullopt;
  const ops::OpStage& op = def.ops[0];
  const bool lstm = op.op == "nn.lstm_cell";
  if (!lstm && op.op != "nn.gru_cell" && op.op != "nn.gru_gates") return std::nullopt;
  const Buffer weight = BufferOf(def.naive, op.args[lstm ? 3 : 2]);
  const Buffer data = BufferOf(def.naive, op.args[1]);
  if (weight == nullptr || data == nullptr || weight->dtype != DataType::kFloat32) {
    return std::nullopt;
  }
  Cell cell;
  cell.weight = weight->name;
  cell.rows = data->shape[0];
  cell.gates = weight->shape[0];
  cell.units = weight->shape[1];
  cell.steps = weight->shape[2];
  // The sums, then a launch for each result.
  if (def.naive.launches.size() != 1 + op.results.size()) return std::nullopt;
  for (const loop::Launch& launch : def.naive.launches) {
    const loop::Stmt s = loop::InsideLoops(launch.body);
    if (s->kind == loop::StmtKind::kSeq) {
      cell.sums = s->body[0]->buffer->name;
    } else {
      cell.results.push_back(s->buffer->name);
    }
  }
  if (cell.sums.empty()) return std::nullopt;
  return cell;
}

Cell CellOf(const Task& task) {
  Cell cell = *ViewCell(*task.def);
  cell.lanes = task.machine.vector.FloatLanes();
  cell.registers = task.machine.vector.registers;
  cell.l2_bytes = task.machine.memory.l2.size_bytes;
  return cell;
}

// A vector of units is one of each gate.
RegisterTileProblem TileProblem(const Cell& cell) {
  RegisterTileProblem problem;
  problem.vectors = cell.gates * CeilDiv(cell.units, cell.lanes);
  problem.columns = cell.rows;
  problem.steps = cell.steps;
  problem.registers = cell.registers;
  problem.vector_bytes = cell.lanes * 4;
  problem.l2_bytes = cell.l2_bytes;
  return problem;
}

RegisterTile TileFor(const Cell& cell, int64_t vectors, int64_t rows) {
  return {.vectors = cell.gates * vectors, .rows = 1, .columns = rows};
}

std::vector<int64_t> VectorOptions(const Cell& cell) {
  constexpr int64_t kMost = 4;
  std::vector<int64_t> options = {1};
  for (int64_t v = 2; v <= std::min(kMost, CeilDiv(cell.units, cell.lanes)); ++v) {
    if (FitsRegisters(TileFor(cell, v, 1), cell.registers)) options.push_back(v);
  }
  return options;
}

std::vector<int64_t> StateRowOptions(const Cell& cell, int64_t vectors) {
  return EvenSizes(cell.rows, cell.rows, [&](int64_t rows) {
    return FitsRegisters(TileFor(cell, vectors, rows), cell.registers);
  });
}

RegisterTile CellTile(const Cell& cell, const Config& config) {
  return TileFor(cell, config.Int("tile_v"), config.Int("tile_w"));
}

int64_t TilesOf(const Cell& cell, int64_t vectors, int64_t rows) {
  return CeilDiv(CeilDiv(cell.units, cell.lanes), vectors) * CeilDiv(cell.rows, rows);
}

std::vector<int64_t> UnrollsOf(const Cell& cell, const Config& config) {
  return UnrollOptions({2, 4, 8}, cell.steps, CellTile(cell, config));
}

// Functions of all vectors of a tile at once leave it no registers: a tile is written out and a
// vector of units computed at a time. Units beyond the last are not there to be written.
std::vector<std::string> EpilogueOptions(const Cell& cell) {
  if (cell.units % cell.lanes != 0) return {"registers"};
  return {"memory", "registers"};
}

// Lines of the next units' weights, fetched while the tiles of rows of these are computed.
std::vector<std::string> PrefetchOptionsOf(const Cell& cell, const Config& prefix) {
  const bool next = CeilDiv(cell.units, cell.lanes * prefix.Int("tile_v")) > 1;
  const bool tiles = CeilDiv(cell.rows, prefix.Int("tile_w")) > 1;
  if (!next || !tiles || prefix.String("order") != "n_m" ||
      cell.steps / prefix.Int("unroll") <= 1) {
    return {"none"};
  }
  return {"none", "step"};
}

class CellSchedule {
 public:
  CellSchedule(const Task& task, const Cell& cell, const Config& config)
      : task_(task),
        cell_(cell),
        config_(config),
        vectors_(config.Int("tile_v")),
        rows_(config.Int("tile_w")),
        s_(task.def->naive),
        sums_(Stage(cell.sums)),
        out_(Stage(cell.results[0])) {}

  absl::StatusOr<loop::Nest> Run() && {
    if (config_.String("epilogue") == "memory") {
      copy_ = sums_;
      sums_ = ProductLoops(s_.CacheWrite(copy_));
    }
    SetSignatureLayouts(&s_, task_);
    Pack();
    for (const std::string& result : cell_.results) TileResult(ProductLoops(Stage(result)));
    MergeResults();
    SumInTile();
    if (packs_in_run_) ScheduleDataStage(&s_, packed_, cell_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  int64_t width() const { return vectors_ * cell_.lanes; }

  // Letters of rank 3, NCW: gates, units, terms.
  void Pack() {
    packs_in_run_ = BufferOf(s_.nest(), cell_.weight)->role == loop::Role::kInput;
    packed_ = s_.Pack(cell_.weight, *Layout::Parse(fmt::format("CWN{}c", width()), 3));
  }

  void TileResult(const ProductLoops& out) {
    s_.Split(out.Axis(1), cell_.lanes, Tail::kGuard, out.Vectors(), out.Lane());
    s_.Split(out.Vectors(), vectors_, Tail::kClip, out.UnitBlocks(), out.UnitVectors());
    s_.Split(out.Axis(0), rows_, Tail::kClip, out.RowBlocks(), out.Rows());
    const auto [first, inner] = GridLoops(out);
    s_.Reorder({first, inner, out.Rows(), out.UnitVectors(), out.Lane()});
    s_.Vectorize(out.Lane());
  }

  std::pair<Loop, Loop> GridLoops(const ProductLoops& out) const {
    if (config_.String("order") == "n_m") return {out.UnitBlocks(), out.RowBlocks()};
    return {out.RowBlocks(), out.UnitBlocks()};
  }

  // A vector of one result, then that of the next.
  void MergeResults() {
    const auto [first, inner] = GridLoops(out_);
    for (size_t i = 1; i < cell_.results.size(); ++i) {
      const ProductLoops out{Stage(cell_.results[i])};
      const auto [also_first, also_inner] = GridLoops(out);
      s_.Merge(first, also_first);
      s_.Merge(inner, also_inner);
      s_.Merge(out_.Rows(), out.Rows());
      s_.Merge(out_.UnitVectors(), out.UnitVectors());
    }
    s_.Parallel(first);
    s_.Parallel(inner);
    inner_ = inner;
  }

  ProductSums Sums(const ProductLoops& stage) const {
    return {.stage = stage, .rank = 3, .lanes = cell_.lanes, .unroll = config_.Int("unroll")};
  }

  void SumInTile() {
    if (!copy_.empty()) CopyFromRegisters(&s_, Sums(copy_), inner_);
    SumInRegisters(&s_, Sums(sums_), inner_);
    if (config_.String("prefetch") == "step") Prefetch();
  }

  void Prefetch() {
    const bool unrolled = config_.Int("unroll") > 1;
    PrefetchOptions options;
    options.ahead = out_.UnitBlocks();
    options.turn = out_.RowBlocks();
    options.inner = sums_.Axis(1);
    s_.Prefetch(unrolled ? sums_.Unrolled() : sums_.Reduction(0), packed_.buffer(), options);
  }

  void Specialise() {
    s_.Simplify();
    if (cell_.rows % rows_ != 0) s_.PeelAll(out_.RowBlocks(), 0, 1);
    if (cell_.units % width() != 0) s_.PeelAll(out_.UnitBlocks(), 0, 1);
    s_.UnrollAll(out_.UnitVectors());
    if (copy_.empty()) {
      s_.UnrollAll(out_.Rows());
    } else {
      UnrollSums(&s_, Sums(copy_));
    }
    UnrollSums(&s_, Sums(sums_));
  }

  const Task& task_;
  const Cell& cell_;
  const Config& config_;
  const int64_t vectors_;
  const int64_t rows_;
  Sequence s_;
  ProductLoops sums_;
  const ProductLoops out_;  // the first result, whose loops become those of all
  Loop inner_;              // the inner loop of the grid
  ProductLoops copy_;       // the tile once more, in memory; empty: none
  Stage packed_;
  bool packs_in_run_ = false;
};

class RecurrentPlan final : public Plan {
 public:
  explicit RecurrentPlan(const Task& task) : task_(task), cell_(CellOf(task)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("tile_v")) return IntKnob("tile_v", VectorOptions(cell_));
    if (!prefix.Has("tile_w")) {
      return IntKnob("tile_w", StateRowOptions(cell_, prefix.Int("tile_v")));
    }
    if (!prefix.Has("unroll")) return IntKnob("unroll", UnrollsOf(cell_, prefix));
    if (!prefix.Has("order")) {
      return TextKnob("order", cell_.rows == 1 ? std::vector<std::string>{"n_m"}
                                               : std::vector<std::string>{"n_m", "m_n"});
    }
    if (!prefix.Has("epilogue")) return TextKnob("epilogue", EpilogueOptions(cell_));
    if (!prefix.Has("prefetch")) return TextKnob("prefetch", PrefetchOptionsOf(cell_, prefix));
    return std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    Config config;
    double least = 0;
    for (const int64_t vectors : VectorOptions(cell_)) {
      for (const int64_t rows : StateRowOptions(cell_, vectors)) {
        const double cycles = TileCycles(TileProblem(cell_), TileFor(cell_, vectors, rows)) *
                              LargestPart(TilesOf(cell_, vectors, rows), task_.machine.Threads());
        if (config.Has("tile_v") && cycles >= least) continue;
        least = cycles;
        config.Set("tile_v", vectors);
        config.Set("tile_w", rows);
      }
    }
    const RegisterTile tile = CellTile(cell_, config);
    // A single row has few additions a step: the loop itself would cost as much.
    const bool few = tile.vectors * tile.columns <= 16;
    config.Set("unroll", few ? FourStepsAtOnce(UnrollsOf(cell_, config), tile) : 1);
    config.Set("order", std::string("n_m"));
    config.Set("epilogue", EpilogueOptions(cell_)[0]);
    // Weights that do not stay in the second cache come from further away at every step.
    const bool far =
        cell_.gates * cell_.units * cell_.steps * 4 > task_.machine.memory.l2.size_bytes;
    config.Set("prefetch", far ? PrefetchOptionsOf(cell_, config).back() : std::string("none"));
    return {{std::move(config)}};
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return CellSchedule(task_, cell_, config).Run();
  }

 private:
  const Task task_;
  const Cell cell_;
};

class RecurrentTemplateImpl : public Template {
 public:
  std::string_view name() const override { return "recurrent"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewCell(def).has_value();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& machine) const override {
    return {RowMajorSignature(def)};
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<RecurrentPlan>(task);
  }
};

}  // namespace

const Template& RecurrentTemplate() {
  static const RecurrentTemplateImpl instance;
  return instance;
}

}  // namespace hone::schedule
