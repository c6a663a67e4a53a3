#include "compiler/schedule/primitives/pad_stage.h"

#include <memory>
#include <utility>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;

absl::Status PadStage(loop::Nest* nest, const Stage& stage, const std::vector<int64_t>& shape) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, stage.buffer()));
  bool covers = shape.size() == buffer->shape.size();
  for (size_t d = 0; covers && d < shape.size(); ++d) covers = shape[d] >= buffer->shape[d];
  if (!covers) {
    return absl::InvalidArgumentError(
        fmt::format("a padded '{}' has at least the extents [{}], found [{}]", buffer->name,
                    fmt::join(buffer->shape, ", "), fmt::join(shape, ", ")));
  }
  const Layout row_major = Layout::RowMajor(static_cast<int>(shape.size()));
  if (buffer->role != loop::Role::kWorkspace || buffer->layout != row_major) {
    return absl::FailedPreconditionError(
        fmt::format("only row-major workspace can be padded, '{}' is not", buffer->name));
  }
  HONE_RETURN_IF_ERROR(ExtendStage(nest, buffer, shape));
  auto padded = std::make_shared<loop::BufferNode>(*buffer);
  padded->shape = shape;
  *nest = loop::Substitute(*nest, loop::BufferMap{{buffer.get(), Buffer(std::move(padded))}});
  return absl::OkStatus();
}

}  // namespace hone::schedule
