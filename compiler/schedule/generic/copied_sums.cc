#include "compiler/schedule/generic/copied_sums.h"

#include <algorithm>
#include <utility>

#include "compiler/loop/launch_access.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {
namespace {

// Axes are shorter.
constexpr int64_t kMostNeighbours = int64_t{1} << 40;

// The buffers that other launches fill for a stage.
std::set<std::string> FactorStages(const loop::Nest& nest, const Stage& stage) {
  std::set<std::string> stages;
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(nest, stage.buffer());
  if (!buffer.ok()) return stages;
  const absl::StatusOr<size_t> launch = WriterOf(nest, *buffer);
  if (!launch.ok()) return stages;
  for (const loop::BufferNode* const read : loop::AccessOf(nest.launches[*launch]).read) {
    if (read != buffer->get() && read->role == loop::Role::kWorkspace) stages.insert(read->name);
  }
  return stages;
}

// Whether the condition is the same for all of `count` neighbouring values of the variable, the
// first of which `count` divides.
bool IsSameForNeighbours(const loop::Expr& condition, const loop::Expr& var, int64_t count) {
  const loop::Expr first = loop::Var("first");
  const loop::Expr next = loop::Var("next");
  const loop::Bounds bounds = {{first, {0, kMostNeighbours}}, {next, {0, count - 1}}};
  const loop::VarMap apart = {{var.get(), first * loop::Expr(count) + next}};
  return !loop::UsesVar(loop::Simplify(loop::Substitute(condition, apart), bounds), next);
}

}  // namespace

bool IsCopied(const loop::Nest& nest, const std::string& name, std::optional<size_t> axis) {
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(nest, name);
  if (!buffer.ok()) return false;
  if ((*buffer)->role != loop::Role::kWorkspace) return true;
  const absl::StatusOr<size_t> launch = WriterOf(nest, *buffer);
  if (!launch.ok()) return false;
  const absl::StatusOr<StageNest> stage = MatchStage(nest, *launch, *buffer);
  if (!stage.ok() || stage->body->kind != loop::StmtKind::kStore) return false;
  const loop::Expr& value = stage->body->value;
  const bool is_padded = value->kind == loop::ExprKind::kSelect;
  const loop::Expr& loaded = is_padded ? value->operands[1] : value;
  if (loaded->kind != loop::ExprKind::kLoad || loaded->buffer->role == loop::Role::kWorkspace) {
    return false;
  }
  return !is_padded || !axis ||
         IsSameForNeighbours(
             value->operands[0], stage->loops[*axis]->var,
             kBytesCopiedAtOnce / static_cast<int64_t>(SizeBytes((*buffer)->dtype)));
}

bool CopiesFromGlobal(const CopiedSums& copied) {
  return copied.sums.factors &&
         std::ranges::all_of(*copied.sums.factors, [&](const GridFactor& factor) {
           return IsCopied(copied.start.nest(), factor.buffer);
         });
}

std::optional<CopiedSums> ViewCopiedSums(const Problem<GridKernel>& problem) {
  const std::optional<GridSums>& known = problem.kernel.sums;
  if (!known) return std::nullopt;
  const loop::Nest& naive = problem.task.def->naive;
  std::set<std::string> stages;
  for (const std::string& name : FactorStages(naive, known->stage)) {
    if (!FindBuffer(problem.kernel.inlined.nest(), name).ok()) stages.insert(name);
  }
  Sequence start(naive);
  InlineCheapStages(&start, stages);
  std::optional<GridSums> sums = MainSums(start);
  if (!sums || sums->stage != known->stage) return std::nullopt;
  return CopiedSums{std::move(start), std::move(stages), *std::move(sums)};
}

}  // namespace hone::schedule
