#include "compiler/schedule/primitives/grow_stage.h"

#include "compiler/loop/bounds.h"
#include "compiler/schedule/primitives/access_check.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

absl::Status GrowStage(loop::Nest* nest, const Stage& stage, const std::vector<int64_t>& shape) {
  HONE_ASSIGN_OR_RETURN(const loop::Buffer buffer, FindBuffer(*nest, stage.buffer()));
  HONE_RETURN_IF_ERROR(CheckCovers(*buffer, shape));
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  HONE_ASSIGN_OR_RETURN(const StageNest form, MatchStage(*nest, writer, buffer));
  const loop::Stmt grown = WithExtents(nest->launches[writer].body, form, form.body, shape);
  AccessCheck check(loop::Bounds(), buffer);
  if (!check.Holds(grown)) {
    return absl::FailedPreconditionError(
        fmt::format("computing more of '{}' would read {}, which is not known to exist",
                    buffer->name, check.where()));
  }
  nest->launches[writer].body = grown;
  ReplaceShape(nest, buffer, shape);
  return absl::OkStatus();
}

}  // namespace hone::schedule
