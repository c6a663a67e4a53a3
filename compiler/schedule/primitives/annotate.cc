#include "compiler/schedule/primitives/annotate.h"

#include "compiler/schedule/primitives/dependence.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::LoopKind;

namespace {

void SetKind(loop::Nest* nest, const Site& site, LoopKind kind) {
  const loop::StmtNode& loop = *site.stmt;
  ReplaceAt(nest, site, loop::For(loop.var, loop.min, loop.extent, loop.body[0], kind));
}

absl::Status RequireConstantExtent(const Site& site) {
  if (loop::IsConstInt(site.stmt->extent)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("loop '{}' needs a constant number of iterations, it has {}",
                  site.stmt->var->name, loop::ToText(site.stmt->extent)));
}

absl::Status RequireIndependent(const Site& site) {
  if (IterationsIndependent(site.stmt, BoundsAt(site))) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "the iterations of loop '{}' are not known to be independent", site.stmt->var->name));
}

}  // namespace

absl::Status Vectorize(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  HONE_RETURN_IF_ERROR(RequireConstantExtent(site));
  HONE_RETURN_IF_ERROR(RequireIndependent(site));
  SetKind(nest, site, LoopKind::kVectorize);
  return absl::OkStatus();
}

absl::Status Unroll(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  HONE_RETURN_IF_ERROR(RequireConstantExtent(site));
  SetKind(nest, site, LoopKind::kUnroll);
  return absl::OkStatus();
}

absl::Status Parallel(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  for (const auto& [ancestor, child] : site.path) {
    if (ancestor->kind != loop::StmtKind::kFor || ancestor->loop_kind != LoopKind::kParallel) {
      return absl::FailedPreconditionError(
          fmt::format("parallel loops are the outermost of a launch, '{}' is not", loop.name()));
    }
  }
  HONE_RETURN_IF_ERROR(RequireConstantExtent(site));
  HONE_RETURN_IF_ERROR(RequireIndependent(site));
  SetKind(nest, site, LoopKind::kParallel);
  return absl::OkStatus();
}

absl::Status Threads(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  HONE_RETURN_IF_ERROR(RequireConstantExtent(site));
  HONE_RETURN_IF_ERROR(RequireIndependent(site));
  SetKind(nest, site, LoopKind::kThread);
  return absl::OkStatus();
}

}  // namespace hone::schedule
