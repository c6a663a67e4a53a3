// Matrix products with weights of 8 or 4 bits and a scale for each block of terms: the register
// tile of dense, whose vectors of weights are made of bytes or words of eight numbers as they are
// needed. Within a block the integers themselves are multiplied; a block's sums are scaled once, on
// their way to the tile's. What is read is packed as dense packs it.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/schedule/dense/loops.h"
#include "compiler/schedule/dense/scaled_view.h"
#include "compiler/schedule/parts.h"
#include "compiler/schedule/price/issue.h"
#include "compiler/schedule/price/reading.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/product/output.h"
#include "compiler/schedule/product/sums.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

// All terms of a word at once.
std::vector<int64_t> UnrollsOf(const ScaledDense& scaled, const RegisterTile& tile) {
  const int64_t steps = scaled.block / scaled.dense.dot;
  const int64_t sums = scaled.Accumulators() * tile.vectors * tile.columns;
  std::vector<int64_t> options = {scaled.StepsOfElement()};
  for (const int64_t unroll : {2, 4, 8, 16}) {
    if (unroll > options[0] && steps % unroll == 0 && unroll * sums <= kMaxEmittedFmas) {
      options.push_back(unroll);
    }
  }
  return options;
}

std::vector<std::string> OrderOptions(const ScaledDense& scaled) {
  if (scaled.dense.rows == 1) return {"n_m"};
  return {"n_m", "m_n"};
}

// On all threads, on a machine as BestTile's. A step unpacks the tile's vectors of weights and
// multiplies them with each row; of few sums it waits for their latency.
double CyclesOf(const ScaledDense& scaled, const RegisterTile& tile) {
  constexpr double kDigitOperations = 8;
  const Dense& dense = scaled.dense;
  const machine::IssueRates& issue = dense.machine.issue;
  const double blocks = static_cast<double>(dense.terms) / static_cast<double>(scaled.block);
  double computing = 0;
  int64_t tiles = 0;
  for (const auto& [vectors, n] : Parts(CeilDiv(dense.units, dense.lanes), tile.vectors)) {
    for (const auto& [rows, m] : Parts(dense.rows, tile.columns)) {
      const auto sums = static_cast<double>(vectors * rows);
      const double multiply = sums * static_cast<double>(scaled.Accumulators());
      const double unpack = static_cast<double>(vectors) * scaled.UnpackOperations();
      const double step = StepCycles(issue, multiply + unpack, /*loads=*/0);
      const double finish =
          blocks * sums * (scaled.digits > 0 ? kDigitOperations : 1) / issue.multiply_adds_a_cycle;
      computing += static_cast<double>(n * m) * (static_cast<double>(dense.steps) * step + finish +
                                                 TileOverhead({vectors, 1, rows}));
      tiles += n * m;
    }
  }
  const double row_tiles = static_cast<double>(CeilDiv(dense.rows, tile.columns));
  const double bytes = scaled.WeightBytes() * static_cast<double>(dense.units * dense.terms);
  const double reading = row_tiles * bytes / dense.Reads().StreamRate();
  return WhileReading(computing, reading) * LargestPart(tiles, dense.machine.Threads()) /
         static_cast<double>(dense.machine.Threads());
}

// Those of the space of dense that leave registers for what is unpacked.
RegisterTile DefaultTile(const ScaledDense& scaled) {
  const RegisterTileProblem problem = TileProblemOf(scaled);
  constexpr int64_t kMostTiles = 4096;
  const Space tiles([&](const Config& prefix) { return NextTileKnob(problem, prefix); });
  std::optional<RegisterTile> best;
  double least = 0;
  for (const Config& config : tiles.Enumerate(kMostTiles)) {
    const RegisterTile tile = schedule::TileOf(config);
    const double cycles = CyclesOf(scaled, tile);
    if (best && cycles >= least) continue;
    best = tile;
    least = cycles;
  }
  return best.value_or(BestTile(problem));
}

int64_t DefaultUnroll(const ScaledDense& scaled, const std::vector<int64_t>& unrolls,
                      const RegisterTile& tile) {
  return scaled.word_terms > 1 ? unrolls[0] : FourStepsAtOnce(unrolls, tile);
}

class ScaledDenseSchedule {
 public:
  ScaledDenseSchedule(const Task& task, const ScaledDense& scaled, const Config& config)
      : task_(task),
        scaled_(scaled),
        dense_(scaled.dense),
        config_(config),
        tile_(schedule::TileOf(config)),
        s_(task.def->naive),
        out_(Stage(dense_.view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    sums_ = ProductLoops(FuseAroundAnchor(&s_, dense_.view, ""));
    SetSignatureLayouts(&s_, task_);
    const std::vector<Stage> copies = Pack();
    const Loop inner = TileDenseOutput(&s_, dense_, tile_, config_.String("order"));
    SumInRegisters(&s_, TileSums(), inner);
    const Loop blocks = sums_.Reduction(0);  // one has no loop
    SumInRegisters(&s_, BlockSums(), s_.Has(blocks) ? blocks : inner);
    PrepareData();
    for (const Stage& copy : copies) ScheduleDataStage(&s_, copy, dense_.lanes);
    Specialise();
    if (dense_.dot > 1) s_.DotAll(BlockSums().stage.Dot());
    return std::move(s_).Finish();
  }

 private:
  // All that is made of the data, in one launch:
  //   for m, part (the grid) { of each stage what there is of the part of the row }
  void PrepareData() {
    Loop rows, parts;
    for (const std::string& stage : scaled_.data_stages) {
      const auto [row, part] = SplitParts(stage);
      if (!rows.empty()) {
        s_.Merge(rows, row);
        s_.Merge(parts, part);
        continue;
      }
      rows = row;
      parts = part;
    }
    if (rows.empty()) return;
    s_.Parallel(rows);
    s_.Parallel(parts);
    for (const std::string& stage : scaled_.data_stages) VectorizeData(stage);
  }

  // The loops of a stage's rows and parts of rows, outermost; what is inside of these are Terms,
  // behind digits.
  std::pair<Loop, Loop> SplitParts(const std::string& buffer) {
    const ScaledDataLoops stage{Stage(buffer)};
    const std::vector<int64_t>& shape = BufferOf(s_.nest(), buffer)->shape;
    if (shape.size() == 4) {  // parts, rows, digits, terms
      s_.Split(stage.Axis(3), scaled_.part, Tail::kExact, stage.Axis(3), stage.Terms());
      s_.Reorder({stage.Axis(1), stage.Axis(0), stage.Axis(2), stage.Axis(3), stage.Terms()});
      return {stage.Axis(1), stage.Axis(0)};
    }
    const int64_t size = IsOfBlocks(buffer) ? scaled_.part / scaled_.block : scaled_.part;
    s_.Split(stage.Axis(1), size, Tail::kExact, stage.Parts(), stage.Terms());
    return {stage.Axis(0), stage.Parts()};
  }

  // Whether it has one element for each block of a row.
  bool IsOfBlocks(const std::string& stage) const {
    return BufferOf(s_.nest(), stage)->shape.back() * scaled_.block == dense_.terms;
  }

  void VectorizeData(const std::string& buffer) {
    const ScaledDataLoops stage{Stage(buffer)};
    const int64_t lanes = std::gcd(scaled_.block, dense_.lanes);
    if (std::ranges::find(scaled_.data_sums, buffer) != scaled_.data_sums.end()) {
      s_.ReduceByLanes(stage.Reduction(0), lanes, 1);
    }
    if (IsOfBlocks(buffer)) return;
    s_.SplitIfPresent(stage.Terms(), lanes, Tail::kExact, stage.TermVectors(), stage.TermLanes());
    s_.VectorizeAll(stage.TermLanes());
  }

  // The sums of a tile; those of blocks beyond the last unit are not there to be added up.
  ProductSums TileSums() const {
    return {.stage = sums_,
            .rank = 2,
            .lanes = dense_.lanes,
            .masks_units = dense_.units % dense_.lanes != 0};
  }
  ProductSums BlockSums() const {
    return {.stage = ProductLoops(Stage(scaled_.of_blocks)),
            .rank = scaled_.digits > 0 ? 4 : 3,
            .lanes = dense_.lanes,
            .dot = dense_.dot,
            .unroll = config_.Int("unroll")};
  }

  // Returns the copies that a run makes before the product.
  std::vector<Stage> Pack() {
    std::vector<Stage> copies;
    std::vector<std::string> operands = scaled_.scales;
    operands.push_back(dense_.weight);
    const std::string units = fmt::format("{}{}", tile_.vectors * dense_.lanes, dense_.Letter(2));
    const bool by_dots = dense_.dot > 1 && scaled_.word_terms == 1;
    const std::string dots = fmt::format("{}{}{}", units, dense_.dot, dense_.Letter(1));
    for (const std::string& operand : operands) {
      const bool weight = operand == dense_.weight;
      Stage packed = s_.Pack(operand, dense_.LayoutOf(weight && by_dots ? dots : units));
      const Buffer buffer = BufferOf(s_.nest(), operand);
      if (buffer != nullptr && buffer->role == loop::Role::kInput) {
        copies.push_back(std::move(packed));
      }
    }
    return copies;
  }

  void Specialise() {
    s_.Simplify();
    PeelDenseOutput(&s_, dense_, tile_);
    for (const Loop& loop : {out_.UnitVectors(), out_.Rows()}) s_.UnrollAll(loop);
    UnrollSums(&s_, TileSums());
    UnrollSums(&s_, BlockSums());
  }

  const Task& task_;
  const ScaledDense& scaled_;
  const Dense& dense_;
  const Config& config_;
  RegisterTile tile_;
  Sequence s_;
  ProductLoops out_;
  ProductLoops sums_;
};

class ScaledDensePlan final : public Plan {
 public:
  explicit ScaledDensePlan(const Task& task) : task_(task), scaled_(ScaledDenseOf(task)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (auto knob = NextTileKnob(TileProblemOf(scaled_), prefix)) return knob;
    if (!prefix.Has("unroll")) {
      return IntKnob("unroll", UnrollsOf(scaled_, schedule::TileOf(prefix)));
    }
    if (!prefix.Has("order")) return TextKnob("order", OrderOptions(scaled_));
    return std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    const RegisterTile tile = DefaultTile(scaled_);
    Config config;
    SetTile(tile, &config);
    config.Set("unroll", DefaultUnroll(scaled_, UnrollsOf(scaled_, tile), tile));
    config.Set("order", std::string("n_m"));
    return {{std::move(config)}};
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ScaledDenseSchedule(task_, scaled_, config).Run();
  }

 private:
  const Task task_;
  const ScaledDense scaled_;
};

class ScaledDenseTemplateImpl : public Template {
 public:
  std::string_view name() const override { return "scaled_dense"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewScaledDense(def).has_value();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& /*machine*/) const override {
    return {RowMajorSignature(def)};
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<ScaledDensePlan>(task);
  }
};

}  // namespace

const Template& ScaledDenseTemplate() {
  static const ScaledDenseTemplateImpl instance;
  return instance;
}

}  // namespace hone::schedule
