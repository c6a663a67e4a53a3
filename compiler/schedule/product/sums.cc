#include "compiler/schedule/product/sums.h"

#include <optional>
#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

std::vector<Loop> Axes(const ProductSums& sums) {
  return sums.stage.Axes(static_cast<size_t>(sums.rank));
}

// For one iteration of `at`, whole vectors of units unless they are masked, each of them in order.
void ComputeTile(Sequence* s, const ProductSums& sums, const Loop& at) {
  ComputeAtOptions options;
  options.align.assign(static_cast<size_t>(sums.rank), 1);
  if (!sums.masks_units) options.align.back() = sums.lanes;
  options.layout = BlockedLayout(sums.rank, sums.rank - 1, sums.lanes).ToString();
  s->ComputeAt(sums.stage, at, options);
}

// Splits the units of the stage, or of its initialisation, into vectors.
void SplitUnits(Sequence* s, const ProductSums& sums, const ProductLoops& stage) {
  const Tail tail = sums.masks_units ? Tail::kGuard : Tail::kExact;
  s->Split(stage.Axis(static_cast<size_t>(sums.rank - 1)), sums.lanes, tail, stage.UnitVectors(),
           stage.Lane());
}

// The stage that fills the sums; nullopt where there is none.
std::optional<StageNest> StageOf(const loop::Nest& nest, const loop::Buffer& sums, size_t* launch) {
  if (sums == nullptr) return std::nullopt;
  const absl::StatusOr<size_t> writer = WriterOf(nest, sums);
  if (!writer.ok()) return std::nullopt;
  absl::StatusOr<StageNest> stage = MatchStage(nest, *writer, sums);
  if (!stage.ok()) return std::nullopt;
  *launch = *writer;
  return *std::move(stage);
}

// Whether something is read in the order of `var`, and nothing that depends on it otherwise.
bool ReadsInOrder(const loop::Nest& nest, size_t launch, const loop::Buffer& sums,
                  const loop::Expr& var) {
  bool some = false;
  bool all = true;
  loop::Bounds bounds;
  for (const loop::Stmt& l : loop::CollectLoops(nest.launches[launch].body)) bounds.PushLoop(*l);
  loop::Walk(
      nest.launches[launch].body, [](const loop::Stmt&) { return true; },
      [&](const loop::Expr& e) {
        if (e->kind != loop::ExprKind::kLoad || e->buffer == sums || !loop::UsesVar(e, var)) return;
        const loop::Linear at =
            loop::LinearForm(loop::PhysicalOffset(*e->buffer, e->operands, bounds), bounds);
        some = true;
        all = all && at.CoefficientOf(var) == 1;
        for (const loop::Linear::Term& term : at.terms()) {
          all = all && (term.atom.SameAs(var) || !loop::UsesVar(term.atom, var));
        }
      });
  return some && all;
}

}  // namespace

bool ReadsUnitsInOrder(const loop::Nest& nest, const Stage& of) {
  const loop::Buffer sums = BufferOf(nest, of.buffer());
  size_t launch = 0;
  const std::optional<StageNest> stage = StageOf(nest, sums, &launch);
  return stage && ReadsInOrder(nest, launch, sums, stage->loops.back()->var);
}

bool ReadsTermsInOrder(const loop::Nest& nest, const Stage& of) {
  const loop::Buffer sums = BufferOf(nest, of.buffer());
  size_t launch = 0;
  const std::optional<StageNest> stage = StageOf(nest, sums, &launch);
  if (!stage || stage->body->kind != loop::StmtKind::kSeq) return false;
  const loop::Stmt& terms = stage->body->body.back();
  return terms->kind == loop::StmtKind::kFor && ReadsInOrder(nest, launch, sums, terms->var);
}

void SumInRegisters(Sequence* s, const ProductSums& sums, const Loop& at) {
  const ProductLoops& stage = sums.stage;
  ComputeTile(s, sums, at);
  const std::vector<Loop> axes = Axes(sums);
  s->Decompose(s->FirstOf(axes));
  for (const ProductLoops& part : {stage.Init(), stage}) SplitUnits(s, sums, part);
  const Loop step = stage.Reduction(0);
  std::vector<Loop> steps = {step};
  if (sums.dot > 1) s->Split(step, sums.dot, Tail::kExact, step, stage.Dot());
  if (sums.unroll > 1) {
    s->Split(step, sums.unroll, Tail::kExact, step, stage.Unrolled());
    steps.push_back(stage.Unrolled());
  }
  steps.insert(steps.end(), axes.begin(), axes.end() - 1);
  steps.insert(steps.end(), {stage.UnitVectors(), stage.Lane(), stage.Dot()});
  s->ReorderPresent(steps);
  s->VectorizeAll(stage.Lane());
}

void CopyFromRegisters(Sequence* s, const ProductSums& copy, const Loop& at) {
  ComputeTile(s, copy, at);
  SplitUnits(s, copy, copy.stage);
  s->VectorizeAll(copy.stage.Lane());
}

// A copy has no steps.
void UnrollSums(Sequence* s, const ProductSums& sums) {
  std::vector<Loop> loops = Axes(sums);
  loops.insert(loops.end(), {sums.stage.UnitVectors(), sums.stage.Unrolled()});
  s->UnrollPresent(loops);
}

}  // namespace hone::schedule
