#include "compiler/schedule/primitives/pad_stage.h"

#include "compiler/schedule/primitives/nest_edit.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;

absl::Status PadStage(loop::Nest* nest, const Stage& stage, const std::vector<int64_t>& shape) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, stage.buffer()));
  HONE_RETURN_IF_ERROR(CheckCovers(*buffer, shape));
  HONE_RETURN_IF_ERROR(ExtendStage(nest, buffer, shape));
  ReplaceShape(nest, buffer, shape);
  return absl::OkStatus();
}

}  // namespace hone::schedule
