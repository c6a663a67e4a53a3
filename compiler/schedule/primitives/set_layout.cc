#include "compiler/schedule/primitives/set_layout.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

namespace {

// The same loops in the same order, longer where the layout pads.
absl::Status ExtendStage(loop::Nest* nest, const Buffer& buffer, const Layout& layout) {
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  HONE_ASSIGN_OR_RETURN(const StageNest stage, MatchStage(*nest, writer, buffer));
  if (stage.body->kind != loop::StmtKind::kStore) {
    return absl::FailedPreconditionError(
        fmt::format("layout '{}' pads '{}', whose stage must be a single store", layout.ToString(),
                    buffer->name));
  }
  Expr inside;
  loop::VarMap none;
  std::vector<int64_t> padded(buffer->shape.size());
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    padded[d] = layout.PaddedExtent(static_cast<int>(d), buffer->shape[d]);
    if (padded[d] == buffer->shape[d]) continue;
    const Expr below = loop::Lt(stage.loops[d]->var, buffer->shape[d]);
    inside = inside ? loop::And(inside, below) : below;
  }
  const Expr value = loop::Select(inside, stage.body->value, loop::Const(0, buffer->dtype));
  Stmt body = loop::Store(buffer, stage.body->indices, value);
  std::vector<Stmt> chain;
  for (Stmt s = nest->launches[writer].body; chain.size() < padded.size(); s = s->body[0]) {
    chain.push_back(s);
  }
  for (size_t i = chain.size(); i-- > 0;) {
    for (size_t d = 0; d < padded.size(); ++d) {
      if (stage.loops[d] != chain[i]) continue;
      body = loop::For(chain[i]->var, 0, padded[d], std::move(body), chain[i]->loop_kind);
    }
  }
  nest->launches[writer].body = std::move(body);
  return absl::OkStatus();
}

}  // namespace

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
  if (written && layout.HasPadLanes(buffer->shape))
    HONE_RETURN_IF_ERROR(ExtendStage(nest, buffer, layout));
  auto copy = std::make_shared<loop::BufferNode>(*buffer);
  copy->layout = layout;
  *nest = loop::Substitute(*nest, loop::BufferMap{{buffer.get(), Buffer(std::move(copy))}});
  return absl::OkStatus();
}

}  // namespace hone::schedule
