#include "compiler/schedule/primitives/weighted_sum.h"

#include "compiler/loop/accumulation.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

bool RunsOver(const Stmt& loop, int64_t extent) {
  return loop::IsInt(loop->min, 0) && loop::IsInt(loop->extent, extent);
}

// The update of the sums, below loops over them.
bool TakeUpdate(Stmt s, WeightedSum* sum) {
  std::vector<Stmt> loops;
  for (; s->kind == StmtKind::kFor; s = s->body[0]) loops.push_back(s);
  if (s->kind != StmtKind::kStore || !loop::Accumulates(*s)) return false;
  if (!loop::IsBinary(s->value, loop::BinaryOp::kAdd)) return false;
  const Expr& product = s->value->operands[1];
  if (!loop::IsBinary(product, loop::BinaryOp::kMul)) return false;
  sum->factor = product->operands[0];
  const Expr& weight = product->operands[1];
  const size_t rank = sum->axes.size();
  if (weight->kind != loop::ExprKind::kLoad || weight->operands.size() != rank ||
      loops.size() + 1 != rank || !weight->operands[0].SameAs(sum->axes[1])) {
    return false;
  }
  sum->weight = weight->buffer;
  sum->weight_at = weight->operands;
  for (size_t d = 0; d < loops.size(); ++d) {
    if (!RunsOver(loops[d], sum->weight->shape[d + 1])) return false;
    sum->sums.push_back(loops[d]->var);
  }
  const DataType dtype = sum->result->dtype;
  return IsFloat(dtype) && sum->weight->dtype == dtype && sum->factor->dtype == dtype;
}

}  // namespace

absl::StatusOr<WeightedSum> MatchWeightedSum(const loop::Nest& nest, const std::string& buffer) {
  WeightedSum sum;
  HONE_ASSIGN_OR_RETURN(sum.result, FindBuffer(nest, buffer));
  HONE_ASSIGN_OR_RETURN(sum.launch, WriterOf(nest, sum.result));
  HONE_ASSIGN_OR_RETURN(const StageNest stage, MatchStage(nest, sum.launch, sum.result));
  for (const Stmt& loop : stage.loops) sum.axes.push_back(loop->var);
  const std::vector<Stmt>& steps = stage.body->body;
  const bool starts = stage.body->kind == StmtKind::kSeq && sum.axes.size() >= 2 &&
                      steps.size() == 2 && steps[0]->kind == StmtKind::kStore &&
                      loop::IsZero(steps[0]->value);
  if (!starts || !TakeUpdate(steps[1], &sum)) {
    return absl::FailedPreconditionError(fmt::format(
        "the stage of '{}' must sum values of its type times a weight, over all of that", buffer));
  }
  return sum;
}

}  // namespace hone::schedule
