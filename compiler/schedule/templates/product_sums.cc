#include "compiler/schedule/templates/product_sums.h"

#include "compiler/loop/bounds.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/templates/kernel_view.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

std::string Axis(const ProductSums& sums, int from_last) {
  return fmt::format("{}.i{}", sums.stage, sums.rank - from_last);
}

}  // namespace

bool ReadsUnitsInOrder(const loop::Nest& nest, const std::string& name) {
  const loop::Buffer sums = BufferOf(nest, name);
  if (sums == nullptr) return false;
  const absl::StatusOr<size_t> writer = WriterOf(nest, sums);
  if (!writer.ok()) return false;
  const absl::StatusOr<Stage> stage = MatchStage(nest, *writer, sums);
  if (!stage.ok()) return false;
  const loop::Expr& unit = stage->loops.back()->var;
  bool in_order = false;
  loop::Bounds bounds;
  for (const loop::Stmt& l : loop::CollectLoops(nest.launches[*writer].body)) bounds.PushLoop(*l);
  loop::Walk(
      stage->body, [](const loop::Stmt&) { return true; },
      [&](const loop::Expr& e) {
        if (e->kind != loop::ExprKind::kLoad || e->buffer == sums || !loop::UsesVar(e, unit))
          return;
        const loop::Linear at =
            loop::LinearForm(loop::PhysicalOffset(*e->buffer, e->operands, bounds), bounds);
        in_order = at.CoefficientOf(unit) == 1;
        for (const loop::Linear::Term& term : at.terms()) {
          in_order = in_order && (term.atom.SameAs(unit) || !loop::UsesVar(term.atom, unit));
        }
      });
  return in_order;
}

void SumInRegisters(Sequence* s, const ProductSums& sums, const std::string& at) {
  const std::string& stage = sums.stage;
  const std::string letters = AxisLetters(sums.rank);
  ComputeAtOptions options;
  options.align.assign(static_cast<size_t>(sums.rank), 1);
  options.align.back() = sums.lanes;
  options.layout = fmt::format("{}{}{}", letters, sums.lanes,
                               static_cast<char>(letters[letters.size() - 1] - 'A' + 'a'));
  s->ComputeAt(stage, at, options);
  const std::string rows = Axis(sums, 2);
  const std::string units = Axis(sums, 1);
  s->Decompose(s->Has(rows) ? rows : units);
  for (const std::string& suffix : {std::string("_init"), std::string()}) {
    s->Split(units + suffix, sums.lanes, Tail::kExact, stage + ".nv" + suffix,
             stage + ".lane" + suffix);
  }
  std::vector<std::string> steps = {stage + ".r0"};
  if (sums.dot > 1) s->Split(stage + ".r0", sums.dot, Tail::kExact, stage + ".r0", stage + ".dot");
  if (sums.unroll > 1) {
    s->Split(stage + ".r0", sums.unroll, Tail::kExact, stage + ".r0", stage + ".unroll");
    steps.push_back(stage + ".unroll");
  }
  steps.push_back(rows);
  for (const char* name : {".nv", ".lane", ".dot"}) steps.push_back(stage + name);
  s->ReorderPresent(steps);
  s->VectorizeAll(stage + ".lane");
}

void UnrollSums(Sequence* s, const ProductSums& sums) {
  s->UnrollAll(Axis(sums, 2));
  for (const char* name : {".nv", ".unroll"}) s->UnrollAll(sums.stage + name);
}

}  // namespace hone::schedule
