#include "compiler/schedule/primitives/prepare_stage.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Role;

namespace {

bool IsFixed(const loop::BufferNode& buffer) {
  return buffer.scope != loop::Scope::kGlobal || buffer.role == Role::kConstant ||
         buffer.role == Role::kPrepared;
}

// The first global buffer the stage reads that is not fixed before the run, its own apart.
Buffer FindVariable(const loop::Stmt& body, const Buffer& own) {
  Buffer found;
  loop::Walk(
      body, [](const loop::Stmt&) { return true; },
      [&](const loop::Expr& e) {
        if (e->kind != loop::ExprKind::kLoad || e->buffer == own || IsFixed(*e->buffer)) return;
        found = e->buffer;
      });
  return found;
}

}  // namespace

absl::Status PrepareStage(loop::Nest* nest, const Stage& moved_stage) {
  const std::string& name = moved_stage.buffer();
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  if (buffer->role != Role::kWorkspace) {
    return absl::FailedPreconditionError(fmt::format("'{}' is no workspace", name));
  }
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  if (const Buffer variable = FindVariable(nest->launches[writer].body, buffer)) {
    return absl::FailedPreconditionError(
        fmt::format("'{}' is computed from '{}', which is no constant", name, variable->name));
  }
  HONE_ASSIGN_OR_RETURN(const StageNest stage, MatchStage(*nest, writer, buffer));
  auto copy = std::make_shared<loop::BufferNode>(*buffer);
  copy->role = Role::kPrepared;
  const Buffer prepared = std::move(copy);
  loop::Launch moved = nest->launches[writer];
  moved.phase = loop::Phase::kPrepare;
  nest->launches.erase(nest->launches.begin() + static_cast<ptrdiff_t>(writer));
  size_t place = 0;
  while (place < nest->launches.size() && nest->launches[place].phase == loop::Phase::kPrepare) {
    ++place;
  }
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(place), std::move(moved));
  for (loop::Launch& launch : nest->launches) {
    launch.body = loop::Substitute(launch.body, {}, {{buffer.get(), prepared}});
  }
  RemoveBuffer(nest, buffer);
  InsertBuffer(nest, prepared);
  return absl::OkStatus();
}

}  // namespace hone::schedule
