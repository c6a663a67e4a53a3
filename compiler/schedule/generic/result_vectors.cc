#include "compiler/schedule/generic/result_vectors.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "compiler/loop/linear.h"
#include "compiler/loop/visit.h"
#include "compiler/machine/vector_access.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

bool IsMultipleOf(const loop::Linear& index, const loop::Expr& var, int64_t count) {
  return index.constant() % count == 0 &&
         std::ranges::all_of(index.terms(), [&](const loop::Linear::Term& term) {
           return term.atom.SameAs(var) || term.coefficient % count == 0;
         });
}

// Whether `count` neighbouring values of the variable, the first of which `count` divides, load one
// element, or an aligned vector.
bool LoadsVector(const loop::Expr& load, const loop::Expr& var, int64_t count) {
  if (!loop::UsesVar(load, var)) return true;
  for (size_t d = 0; d + 1 < load->operands.size(); ++d) {
    if (loop::UsesVar(load->operands[d], var)) return false;
  }
  const loop::Linear last = loop::Linear::Of(load->operands.back());
  const bool is_linear = std::ranges::all_of(last.terms(), [&](const loop::Linear::Term& term) {
    return term.atom.SameAs(var) || !loop::UsesVar(term.atom, var);
  });
  return is_linear && last.CoefficientOf(var) == 1 && IsMultipleOf(last, var, count) &&
         load->buffer->layout.IsRowMajor() && load->buffer->shape.back() % count == 0;
}

// Whether the value is computed from loads alone, each of them LoadsVector.
bool IsOfVectors(const loop::Expr& value, const loop::Expr& var, int64_t count) {
  if (value->kind == loop::ExprKind::kLoad) return LoadsVector(value, var, count);
  if (value.SameAs(var)) return false;
  return std::ranges::all_of(
      value->operands, [&](const loop::Expr& operand) { return IsOfVectors(operand, var, count); });
}

int64_t ResultsOf(const loop::BufferNode& buffer) {
  return std::accumulate(buffer.shape.begin(), buffer.shape.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

int64_t ResultsAtOnce(const loop::Nest& nest, const Stage& results, int64_t extent) {
  constexpr int64_t kMostResults = 8;
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(nest, results.buffer());
  if (!buffer.ok() || (*buffer)->shape.empty() || !(*buffer)->layout.IsRowMajor()) return 1;
  const auto element_bytes = static_cast<int64_t>(SizeBytes((*buffer)->dtype));
  return std::gcd(std::gcd((*buffer)->shape.back(), extent),
                  std::min(kMostResults, machine::kAccessBytes / element_bytes));
}

void StoreVectors(Sequence* s, int64_t fewest_threads) {
  const loop::Nest nest = s->nest();
  for (const loop::Buffer& buffer : nest.buffers) {
    const absl::StatusOr<size_t> launch = WriterOf(nest, buffer);
    if (!launch.ok() || nest.launches[*launch].phase != loop::Phase::kRun) continue;
    const absl::StatusOr<StageNest> stage = MatchStage(nest, *launch, buffer);
    if (!stage.ok() || stage->loops.empty() || stage->body->kind != loop::StmtKind::kStore)
      continue;
    const Stage results(buffer->name);
    const int64_t at_once = ResultsAtOnce(nest, results, buffer->shape.back());
    // Neighbours are computed by the innermost loop.
    if (stage->loops.back()->body.front() != stage->body) continue;
    const loop::Expr& var = stage->loops.back()->var;
    if (at_once == 1 || ResultsOf(*buffer) / at_once < fewest_threads ||
        !IsOfVectors(stage->body->value, var, at_once)) {
      continue;
    }
    Sequence vectors = *s;
    const Loop last(var->name);
    vectors.Vectorize(vectors.Split(last, at_once, Tail::kExact, last, last.Lanes()).inner);
    if (vectors.ok()) *s = std::move(vectors);
  }
}

}  // namespace hone::schedule
