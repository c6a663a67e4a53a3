// Any kernel: cheap stages are inlined into their readers, the loops of what is left follow the
// memory order of what they write, the outermost become the grid, the innermost vectors. A stage
// that a step does not fit keeps the form it had, so every kernel has a schedule.
#include <algorithm>
#include <set>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/rewrite/stage_schedule.h"
#include "compiler/schedule/templates.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;

// The largest extent of an axis that could become vectors, over the outputs: bounds the knobs.
int64_t InnermostExtent(const loop::Nest& nest) {
  int64_t extent = 1;
  for (const Buffer& output : OutputsOf(nest)) {
    if (output->shape.empty()) continue;
    const Layout& layout = output->layout;
    const std::vector<int64_t> physical = layout.PhysicalShape(output->shape);
    extent = std::max(extent, physical[InnermostDim(layout, output->shape)]);
    // Blocks follow each other in memory: several are one wider vector.
    if (layout.dims().back().factor != 0 && physical.size() > 1) {
      extent = std::max(extent, physical.back() * physical[physical.size() - 2]);
    }
  }
  return extent;
}

bool HasReduction(const ops::KernelDefinition& def) {
  for (const loop::Launch& launch : def.naive.launches) {
    const loop::Stmt s = loop::InsideLoops(launch.body);
    if (s->kind != loop::StmtKind::kStore) return true;
  }
  return false;
}

// A reduction cannot store pad lanes, and what copies its results to where they are is a pass more.
bool SumsToPadLanes(const ops::KernelDefinition& def, const ir::LayoutSignature& signature) {
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  for (const loop::Launch& launch : def.naive.launches) {
    const loop::Stmt body = loop::InsideLoops(launch.body);
    for (size_t i = 0; body->kind == loop::StmtKind::kSeq && i < outputs.size(); ++i) {
      const Layout& layout = signature.results[i];
      const std::vector<int64_t>& shape = outputs[i]->shape;
      if (layout.HasPadLanes(shape) && Stores(body, outputs[i])) return true;
    }
  }
  return false;
}

size_t MaxRank(const loop::Nest& nest) {
  size_t rank = 1;
  for (const Buffer& output : OutputsOf(nest)) rank = std::max(rank, output->shape.size());
  return rank;
}

std::vector<int64_t> NestUnrolls(const loop::Nest& nest, int64_t lanes) {
  std::vector<int64_t> options = {1};
  for (int64_t unroll : {2, 4, 8}) {
    if (lanes * unroll <= InnermostExtent(nest)) options.push_back(unroll);
  }
  return options;
}

std::vector<int64_t> LaneOptions(const loop::Nest& nest, const machine::Machine& machine) {
  const int64_t vector = machine.vector.FloatLanes();
  const int64_t extent = std::max(InnermostExtent(nest), ElementsAcrossFew(nest));
  std::vector<int64_t> options;
  for (int64_t lanes = vector; lanes > 1; lanes /= 2) {
    if (lanes <= extent && lanes * 4 >= vector) options.push_back(lanes);
  }
  options.push_back(1);
  return options;
}

std::vector<int64_t> GridOptions(const loop::Nest& nest) {
  std::vector<int64_t> options;
  for (size_t loops = std::min<size_t>(3, MaxRank(nest)); loops > 0; --loops) {
    options.push_back(static_cast<int64_t>(loops));
  }
  return options;
}

absl::Status SetLayouts(const Task& task, Sequence& s) {
  const std::vector<Buffer> inputs = InputsOf(task.def->naive);
  const std::vector<Buffer> outputs = OutputsOf(task.def->naive);
  for (size_t i = 0; i < inputs.size(); ++i) {
    s.SetLayout(inputs[i]->name, task.signature.operands[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Layout& layout = task.signature.results[i];
    if (layout.HasPadLanes(outputs[i]->shape)) {
      // Pad lanes are written by a stage that is a single store.
      HONE_ASSIGN_OR_RETURN(const Buffer output, FindBuffer(s.nest(), outputs[i]->name));
      HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(s.nest(), output));
      const absl::StatusOr<StageNest> stage = MatchStage(s.nest(), writer, output);
      if (!stage.ok() || stage->body->kind != loop::StmtKind::kStore) {
        s.CacheWrite(Stage(outputs[i]->name));
      }
    }
    s.SetLayout(outputs[i]->name, layout);
  }
  return absl::OkStatus();
}

// Elements of the buffers that the launch that fills `buffer` reads.
int64_t ElementsRead(const loop::Nest& nest, const Buffer& buffer) {
  const absl::StatusOr<size_t> writer = WriterOf(nest, buffer);
  if (!writer.ok()) return 0;
  std::set<const loop::BufferNode*> read;
  loop::Walk(
      nest.launches[*writer].body, [](const loop::Stmt&) { return true; },
      [&](const Expr& e) {
        if (e->kind == loop::ExprKind::kLoad && e->buffer != buffer) read.insert(e->buffer.get());
      });
  int64_t elements = 0;
  for (const loop::BufferNode* b : read) elements += b->layout.ElementCount(b->shape);
  return elements;
}

// Tables made of constants are made once; not where they would take more memory than these.
void PrepareTables(Sequence* s) {
  for (const Buffer& buffer : loop::Nest(s->nest()).buffers) {
    if (buffer->role != loop::Role::kWorkspace ||
        buffer->layout.ElementCount(buffer->shape) > ElementsRead(s->nest(), buffer)) {
      continue;
    }
    Sequence prepared = *s;
    prepared.Prepare(Stage(buffer->name));
    if (prepared.ok()) *s = std::move(prepared);
  }
}

// Naive, with tables of constants prepared, cheap stages in their readers and the layouts of the
// signature. An innermost axis shorter than a vector is joined with those before it.
Sequence Prepared(const Task& task) {
  Sequence s(task.def->naive);
  PrepareTables(&s);
  InlineCheapStages(&s);
  s.Fail(SetLayouts(task, s));
  if (!HasReduction(*task.def) && InnermostExtent(s.nest()) < task.machine.vector.FloatLanes()) {
    JoinAxes(&s);
  }
  return s;
}

std::vector<std::string> WalkOptions(const Sequence& s) {
  if (!s.ok() || !HasStageToTurn(s.nest())) return {"rows"};
  return {"turn", "rows"};
}

// Tiles side by side that are turned one after the other. What is read of a line of memory far from
// the next is more than a line then, which is what memory is fast at.
std::vector<int64_t> StripOptions() { return {1, 2, 4, 8}; }

// More than one where what is read, and again when the next tiles come, has left the second cache.
// With narrow elements a strip gains nothing (Zen 4: float16 takes 1.3 of the time).
int64_t DefaultStrip(const Task& task) {
  constexpr int64_t kStrip = 4, kWideBytes = 4;
  int64_t bytes = 0;
  bool wide = true;
  for (const Buffer& buffer : task.def->naive.buffers) {
    bytes += buffer->SizeBytes();
    wide = wide && SizeBytes(buffer->dtype) >= kWideBytes;
  }
  return wide && bytes > task.machine.memory.l2.size_bytes ? kStrip : 1;
}

// The axis along which the results of a reduction lie; null where there is none.
Expr LaneOf(const loop::StmtNode& first) {
  if (first.kind != loop::StmtKind::kStore || first.indices.empty()) return Expr();
  return first.indices[InnermostAxis(first.buffer->layout, first.buffer->shape)];
}

// The data of the reductions runs along the summed axis: lanes would gather.
bool ReducesInnermost(const loop::Nest& nest) {
  bool innermost = false;
  for (const loop::Launch& launch : nest.launches) {
    const loop::Stmt body = loop::InsideLoops(launch.body);
    if (body->kind != loop::StmtKind::kSeq || body->body[0]->kind != loop::StmtKind::kStore) {
      continue;
    }
    const Expr lane = LaneOf(*body->body[0]);
    const std::vector<loop::Stmt> steps = loop::CollectLoops(body);
    loop::Walk(
        body, [](const loop::Stmt&) { return true; },
        [&](const Expr& e) {
          if (e->kind != loop::ExprKind::kLoad || e->operands.empty()) return;
          const Expr& last = e->operands.back();
          const bool summed = std::any_of(steps.begin(), steps.end(),
                                          [&](const loop::Stmt& s) { return s->var.SameAs(last); });
          const bool same_in_lanes = lane && !loop::UsesVar(e, lane);
          innermost = innermost || (summed && !same_in_lanes && e->buffer->layout.IsRowMajor());
        });
  }
  return innermost;
}

class GenericPlan final : public Plan {
 public:
  explicit GenericPlan(const Task& task)
      : task_(task),
        prepared_(Prepared(task)),
        lanes_(LaneOptions(prepared_.nest(), task.machine)),
        grid_(GridOptions(prepared_.nest())),
        walk_(WalkOptions(prepared_)),
        has_reduction_(HasReduction(*task.def)) {
    for (const int64_t option : lanes_) unroll_.push_back(NestUnrolls(prepared_.nest(), option));
  }

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("lanes")) return IntKnob("lanes", lanes_);
    if (!prefix.Has("unroll")) {
      const auto i =
          static_cast<size_t>(std::ranges::find(lanes_, prefix.Int("lanes")) - lanes_.begin());
      return IntKnob("unroll", i < unroll_.size() ? unroll_[i] : std::vector<int64_t>{1}, 1);
    }
    if (!prefix.Has("grid")) return IntKnob("grid", grid_);
    if (!prefix.Has("reduce")) {
      return TextKnob("reduce", has_reduction_ ? std::vector<std::string>{"vector", "scalar"}
                                               : std::vector<std::string>{"none"});
    }
    if (!prefix.Has("walk")) {
      return TextKnob("walk", prefix.Int("lanes") > 1 ? walk_ : std::vector<std::string>{"rows"},
                      "rows");
    }
    if (prefix.String("walk") == "turn" && !prefix.Has("strip")) {
      return IntKnob("strip", StripOptions(), 1);
    }
    return std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    Config config;
    config.Set("lanes", lanes_[0]);
    // Two vectors at once hide the latency of a chain; more only where memory is far.
    config.Set("unroll", unroll_[0][std::min<size_t>(1, unroll_[0].size() - 1)]);
    config.Set("grid", grid_[0]);
    if (!has_reduction_) {
      config.Set("reduce", std::string("none"));
    } else {
      config.Set("reduce", std::string(ReducesInnermost(prepared_.nest()) ? "scalar" : "vector"));
    }
    config.Set("walk", lanes_[0] > 1 ? walk_[0] : std::string("rows"));
    if (config.String("walk") == "turn") config.Set("strip", DefaultStrip(task_));
    return {{std::move(config)}};
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    Sequence s = prepared_;
    StageOptions options;
    options.lanes = config.Int("lanes");
    options.unroll = config.Int("unroll");
    options.grid = config.Int("grid");
    options.turn = config.String("walk") == "turn";
    if (config.Has("strip")) options.strip = config.Int("strip");
    options.vector_reduction = config.String("reduce") == "vector";
    ScheduleStages(&s, options);
    return std::move(s).Finish();
  }

 private:
  const Task task_;
  const Sequence prepared_;
  const std::vector<int64_t> lanes_, grid_;
  const std::vector<std::string> walk_;
  const bool has_reduction_;
  std::vector<std::vector<int64_t>> unroll_;  // of each of the lanes
};

class Generic : public Template {
 public:
  std::string_view name() const override { return "generic"; }
  bool Matches(const ops::KernelDefinition& /*def*/) const override { return true; }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& machine) const override {
    std::vector<ir::LayoutSignature> signatures =
        ElementwiseSignatures(def, machine.vector.FloatLanes());
    std::erase_if(signatures, [&](const ir::LayoutSignature& signature) {
      return SumsToPadLanes(def, signature);
    });
    return signatures;
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<GenericPlan>(task);
  }
};

}  // namespace

const Template& GenericTemplate() {
  static const Generic instance;
  return instance;
}

}  // namespace hone::schedule
