#include "compiler/schedule/product/sums.h"

#include <optional>

#include "compiler/loop/bounds.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

std::vector<std::string> Axes(const ProductSums& sums) {
  std::vector<std::string> axes;
  for (int axis = 0; axis < sums.rank; ++axis) {
    axes.push_back(fmt::format("{}.i{}", sums.stage, axis));
  }
  return axes;
}

// For one iteration of `at`, whole vectors of units unless they are masked, each of them in order.
void ComputeTile(Sequence* s, const ProductSums& sums, const std::string& at) {
  ComputeAtOptions options;
  options.align.assign(static_cast<size_t>(sums.rank), 1);
  if (!sums.masks_units) options.align.back() = sums.lanes;
  options.layout = BlockedLayout(sums.rank, sums.rank - 1, sums.lanes).ToString();
  s->ComputeAt(sums.stage, at, options);
}

void SplitUnits(Sequence* s, const ProductSums& sums, const std::string& suffix) {
  const std::string& stage = sums.stage;
  const Tail tail = sums.masks_units ? Tail::kGuard : Tail::kExact;
  s->Split(Axes(sums).back() + suffix, sums.lanes, tail, stage + ".nv" + suffix,
           stage + ".lane" + suffix);
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

bool ReadsUnitsInOrder(const loop::Nest& nest, const std::string& name) {
  const loop::Buffer sums = BufferOf(nest, name);
  size_t launch = 0;
  const std::optional<StageNest> stage = StageOf(nest, sums, &launch);
  return stage && ReadsInOrder(nest, launch, sums, stage->loops.back()->var);
}

bool ReadsTermsInOrder(const loop::Nest& nest, const std::string& name) {
  const loop::Buffer sums = BufferOf(nest, name);
  size_t launch = 0;
  const std::optional<StageNest> stage = StageOf(nest, sums, &launch);
  if (!stage || stage->body->kind != loop::StmtKind::kSeq) return false;
  const loop::Stmt& terms = stage->body->body.back();
  return terms->kind == loop::StmtKind::kFor && ReadsInOrder(nest, launch, sums, terms->var);
}

void SumInRegisters(Sequence* s, const ProductSums& sums, const std::string& at) {
  const std::string& stage = sums.stage;
  ComputeTile(s, sums, at);
  const std::vector<std::string> axes = Axes(sums);
  s->Decompose(s->FirstOf(axes));
  for (const char* suffix : {"_init", ""}) SplitUnits(s, sums, suffix);
  std::vector<std::string> steps = {stage + ".r0"};
  if (sums.dot > 1) s->Split(stage + ".r0", sums.dot, Tail::kExact, stage + ".r0", stage + ".dot");
  if (sums.unroll > 1) {
    s->Split(stage + ".r0", sums.unroll, Tail::kExact, stage + ".r0", stage + ".unroll");
    steps.push_back(stage + ".unroll");
  }
  steps.insert(steps.end(), axes.begin(), axes.end() - 1);
  for (const char* name : {".nv", ".lane", ".dot"}) steps.push_back(stage + name);
  s->ReorderPresent(steps);
  s->VectorizeAll(stage + ".lane");
}

void CopyFromRegisters(Sequence* s, const ProductSums& copy, const std::string& at) {
  ComputeTile(s, copy, at);
  SplitUnits(s, copy, "");
  s->VectorizeAll(copy.stage + ".lane");
}

void UnrollSums(Sequence* s, const ProductSums& sums) {
  for (const std::string& axis : Axes(sums)) s->UnrollAll(axis);
  for (const char* name : {".nv", ".unroll"}) s->UnrollAll(sums.stage + name);
}

}  // namespace hone::schedule
