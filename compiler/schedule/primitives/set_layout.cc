#include "compiler/schedule/primitives/set_layout.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;

absl::Status SetLayout(loop::Nest* nest, const std::string& name, const Layout& layout) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  if (layout == buffer->layout) return absl::OkStatus();
  if (layout.rank() != static_cast<int>(buffer->shape.size())) {
    return absl::InvalidArgumentError(fmt::format("layout '{}' does not fit '{}' of rank {}",
                                                  layout.ToString(), name, buffer->shape.size()));
  }
  if (buffer->layout.HasPadLanes(buffer->shape)) {
    return absl::FailedPreconditionError(
        fmt::format("'{}' has pad lanes already, which its readers may rely on", name));
  }
  const bool written = buffer->role == loop::Role::kWorkspace ||
                       buffer->role == loop::Role::kOutput || buffer->role == loop::Role::kPrepared;
  if (written && layout.HasPadLanes(buffer->shape)) {
    std::vector<int64_t> padded(buffer->shape.size());
    for (size_t d = 0; d < padded.size(); ++d) {
      padded[d] = layout.PaddedExtent(static_cast<int>(d), buffer->shape[d]);
    }
    HONE_RETURN_IF_ERROR(ExtendStage(nest, buffer, padded));
  }
  auto copy = std::make_shared<loop::BufferNode>(*buffer);
  copy->layout = layout;
  *nest = loop::Substitute(*nest, loop::BufferMap{{buffer.get(), Buffer(std::move(copy))}});
  return absl::OkStatus();
}

}  // namespace hone::schedule
