#include "compiler/schedule/primitives/inline_stage.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

namespace {

class Inliner : public loop::Mutator {
 public:
  Inliner(const Buffer& buffer, const StageNest& stage) : buffer_(buffer), stage_(stage) {}
  Expr Rewrite(const Expr& e) override {
    if ((e->uses & loop::UseBit(buffer_.get())) == 0) return e;
    if (e->kind != loop::ExprKind::kLoad || e->buffer != buffer_) return RewriteChildren(e);
    const Expr load = RewriteChildren(e);
    loop::VarMap map;
    for (size_t d = 0; d < stage_.loops.size(); ++d) {
      map[stage_.loops[d]->var.get()] = load->operands[d];
    }
    return loop::Substitute(stage_.body->value, map);
  }
  Stmt Rewrite(const Stmt& s) override { return RewriteChildren(s); }

 private:
  const Buffer& buffer_;
  const StageNest& stage_;
};

struct Inlinable {
  Buffer buffer;
  size_t launch;
  StageNest stage;
};

absl::StatusOr<Inlinable> Match(const loop::Nest& nest, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(Buffer buffer, FindBuffer(nest, name));
  if (buffer->role != loop::Role::kWorkspace || !buffer->layout.IsRowMajor()) {
    return absl::FailedPreconditionError(
        fmt::format("only row-major workspace can be inlined, '{}' is not", name));
  }
  HONE_ASSIGN_OR_RETURN(const size_t launch, WriterOf(nest, buffer));
  HONE_ASSIGN_OR_RETURN(StageNest stage, MatchStage(nest, launch, buffer));
  if (stage.body->kind != loop::StmtKind::kStore || Loads(stage.body, buffer)) {
    return absl::FailedPreconditionError(
        fmt::format("the stage of '{}' is no single store of a value", name));
  }
  return Inlinable{std::move(buffer), launch, std::move(stage)};
}

}  // namespace

bool CanInline(const loop::Nest& nest, const Stage& stage) {
  return Match(nest, stage.buffer()).ok();
}

absl::Status InlineStage(loop::Nest* nest, const Stage& stage) {
  HONE_ASSIGN_OR_RETURN(const Inlinable found, Match(*nest, stage.buffer()));
  Inliner inliner(found.buffer, found.stage);
  for (size_t i = 0; i < nest->launches.size(); ++i) {
    if (i == found.launch) continue;
    nest->launches[i].body = inliner.Rewrite(nest->launches[i].body);
  }
  nest->launches.erase(nest->launches.begin() + static_cast<ptrdiff_t>(found.launch));
  RemoveBuffer(nest, found.buffer);
  return absl::OkStatus();
}

}  // namespace hone::schedule
