// A matrix in CSR by a dense one: a row at a time, with a block of the result's columns in
// registers while the row's elements go by, a few at once: where short rows end is what the
// processor foresees worst. Where the sparse matrix is constant, its offsets and columns are
// clamped once, when it is prepared; then it is also found which rows make even shares for the
// threads.
#include <algorithm>
#include <bit>

#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/product/loops.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Role;

struct Sparse {
  AnchorView view;
  bool constant = false;  // the sparse matrix
  int64_t nonzeros = 0;
  int64_t rows = 0;
  int64_t columns = 0;  // of the result
};

std::optional<Sparse> ViewSparse(const ops::KernelDefinition& def) {
  std::optional<AnchorView> view = ViewAnchor(def, {"nn.sparse_dense"});
  // What clamps columns and offsets; nothing that computes an operand.
  if (!view || view->prologue.size() != 2) return std::nullopt;
  Sparse sparse;
  sparse.constant = true;
  for (const std::string& arg : view->op->args) {
    const Buffer buffer = BufferOf(def.naive, arg);
    if (buffer == nullptr) return std::nullopt;
    const bool parameter = buffer->role == Role::kInput || buffer->role == Role::kConstant;
    if (!parameter) return std::nullopt;
    const bool dense = arg == view->op->args.back();
    sparse.constant = sparse.constant && (dense || buffer->role == Role::kConstant);
  }
  const Buffer anchor = BufferOf(def.naive, view->anchor);
  sparse.nonzeros = BufferOf(def.naive, view->op->args[0])->shape[0];
  sparse.rows = view->shape[0];
  sparse.columns = view->shape[1];
  if (anchor->dtype != DataType::kFloat32 || sparse.columns < 2) return std::nullopt;
  sparse.view = *std::move(view);
  return sparse;
}

std::vector<int64_t> LaneOptions(const Sparse& sparse, const machine::Machine& machine) {
  const auto columns = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(sparse.columns)));
  const int64_t most =
      std::min<int64_t>(std::max<int64_t>(machine.vector.FloatLanes(), 2), columns);
  std::vector<int64_t> options;
  for (int64_t lanes = most; lanes >= 2 && lanes * 4 >= most; lanes /= 2) options.push_back(lanes);
  return options;
}

std::vector<int64_t> VectorOptions(const Sparse& sparse, int64_t lanes) {
  std::vector<int64_t> options;
  const int64_t all = CeilDiv(sparse.columns, lanes);
  for (const int64_t vectors : {1, 2, 3, 4, 6, 8, 12}) {
    if (vectors <= all) options.push_back(vectors);
  }
  return options;
}

std::vector<std::string> OrderOptions(const Sparse& sparse, int64_t width) {
  if (width >= sparse.columns) return {"rows_first"};
  return {"rows_first", "columns_first"};
}

// Elements of a row at once.
std::vector<int64_t> StepOptions(int64_t vectors) {
  constexpr int64_t kMostEmitted = 24;
  std::vector<int64_t> options;
  for (const int64_t steps : {1, 2, 4, 8}) {
    if (steps == 1 || steps * vectors <= kMostEmitted) options.push_back(steps);
  }
  return options;
}

// What the threads take turns with: rows one by one, or runs of them with as many elements each.
std::vector<std::string> ShareOptions(const Sparse& sparse, const machine::Machine& machine) {
  if (!sparse.constant || machine.Threads() < 2 || sparse.rows < 2) return {"rows"};
  return {"rows", "nonzeros"};
}

// What a row costs beside its elements, the branch at its end above all: measured on rows sorted by
// degree of 7 to 64 columns.
constexpr int64_t kRowElements = 2;

// Several a thread: a team of another size than the target's gets nearly even shares too.
int64_t SharesOf(const machine::Machine& machine) {
  constexpr int64_t kSharesAThread = 4;
  return kSharesAThread * machine.Threads();
}

class SparseSchedule {
 public:
  SparseSchedule(const Task& task, const Sparse& sparse, const Config& config)
      : sparse_(sparse),
        lanes_(config.Int("lanes")),
        width_(lanes_ * config.Int("vectors")),
        columns_first_(config.String("order") == "columns_first"),
        steps_(config.Int("steps")),
        shares_(config.String("share") == "nonzeros" ? SharesOf(task.machine) : 0),
        s_(task.def->naive),
        out_(Stage(sparse.view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    for (const std::string& stage : sparse_.view.prologue) {
      if (sparse_.constant) {
        s_.Prepare(Stage(stage));
      } else {
        s_.Inline(Stage(stage));
      }
    }
    AnchorView rest = sparse_.view;
    rest.prologue.clear();
    sum_ = ProductLoops(FuseAroundAnchor(&s_, rest, ""));
    ComputeRows();
    Vectorise();
    if (steps_ > 1) s_.UnrollSteps(sum_.Reduction(0), steps_);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  // A block of a row's columns at a time, of exactly the columns there are.
  void ComputeRows() {
    s_.Split(out_.Axis(1), width_, Tail::kClip, out_.UnitBlocks(), out_.Units());
    ComputeAtOptions options;
    options.layout = fmt::format("NC{}c", lanes_);  // whole vectors: a masked one is a register too
    if (columns_first_) {
      s_.Reorder({out_.UnitBlocks(), out_.Axis(0)});
      s_.ComputeAt(sum_, out_.Axis(0), options);
      s_.Parallel(out_.UnitBlocks());
    } else {
      s_.ComputeAt(sum_, out_.UnitBlocks(), options);
    }
    s_.Parallel(out_.Axis(0));
    // Prepared: starts of the rows are the second stage before the sum.
    if (shares_ > 0) {
      s_.ShareByOffsets(out_.Axis(0), sparse_.view.prologue[1],
                        {.elements = sparse_.nonzeros, .row_elements = kRowElements}, shares_);
    }
  }

  void Vectorise() {
    s_.Decompose(s_.Find(sum_.Axis(0)).value_or(sum_.Axis(1)));
    s_.ReorderPresent({sum_.Reduction(0), sum_.Axis(1)});
    const auto vectorise = [&](const Loop& units, const ProductLoops& stage) {
      s_.Split(units, lanes_, Tail::kGuard, stage.UnitVectors(), stage.Lane());
      s_.Vectorize(stage.Lane());
    };
    vectorise(sum_.Init().Axis(1), sum_.Init());
    vectorise(sum_.Axis(1), sum_);
    vectorise(out_.Units(), out_);
  }

  // Whole blocks and the last one apart, both of constant extents.
  void Specialise() {
    s_.Simplify();
    if (sparse_.columns % width_ != 0) s_.PeelAll(out_.UnitBlocks(), 0, 1);
    s_.Simplify();
    for (const ProductLoops& stage : {out_, sum_, sum_.Init()}) s_.UnrollAll(stage.UnitVectors());
  }

  const Sparse& sparse_;
  int64_t lanes_;
  int64_t width_;
  bool columns_first_;
  int64_t steps_;
  int64_t shares_;  // 0: each row is one
  Sequence s_;
  ProductLoops out_;  // columns are the units
  ProductLoops sum_;
};

class SparseDensePlan final : public Plan {
 public:
  explicit SparseDensePlan(const Task& task) : task_(task), sparse_(*ViewSparse(*task.def)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("lanes")) return IntKnob("lanes", LaneOptions(sparse_, task_.machine));
    const int64_t chosen = prefix.Int("lanes");
    if (!prefix.Has("vectors")) return IntKnob("vectors", VectorOptions(sparse_, chosen));
    if (!prefix.Has("order")) {
      return TextKnob("order", OrderOptions(sparse_, chosen * prefix.Int("vectors")));
    }
    if (!prefix.Has("steps")) return IntKnob("steps", StepOptions(prefix.Int("vectors")), 1);
    if (!prefix.Has("share")) {
      return TextKnob("share", ShareOptions(sparse_, task_.machine), "rows");
    }
    return std::nullopt;
  }

  // The widest vectors that are not mostly mask; four hide the latency of additions and leave the
  // row's elements to be read few times. Shares by non-zeros cost two loads each, and a graph may
  // be sorted by degree.
  std::vector<PricedConfig> Ranked() const override {
    Config config;
    const int64_t lanes = LaneOptions(sparse_, task_.machine)[0];
    config.Set("lanes", lanes);
    int64_t vectors = 1;
    for (const int64_t option : VectorOptions(sparse_, lanes)) {
      if (option <= 4) vectors = option;
    }
    config.Set("vectors", vectors);
    config.Set("order", std::string("rows_first"));
    const std::vector<int64_t> steps = StepOptions(vectors);
    config.Set("steps", steps[std::min<size_t>(2, steps.size() - 1)]);
    config.Set("share", ShareOptions(sparse_, task_.machine).back());
    return {{std::move(config)}};
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return SparseSchedule(task_, sparse_, config).Run();
  }

 private:
  const Task task_;
  const Sparse sparse_;
};

class SparseDense : public Template {
 public:
  std::string_view name() const override { return "sparse_dense"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewSparse(def).has_value();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine&) const override {
    return {RowMajorSignature(def)};
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<SparseDensePlan>(task);
  }
};

}  // namespace

const Template& SparseDenseTemplate() {
  static const SparseDense instance;
  return instance;
}

}  // namespace hone::schedule
