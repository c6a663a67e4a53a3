#include "compiler/schedule/primitives/copy_in_loop.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/visit.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

// The allocation of the buffer of that name which every iteration makes once.
Stmt AllocIn(const Stmt& body, const std::string& name) {
  if (body->kind == StmtKind::kAlloc && body->buffer->name == name) return body;
  if (body->kind != StmtKind::kAlloc && body->kind != StmtKind::kSeq) return nullptr;
  for (const Stmt& child : body->body) {
    if (Stmt found = AllocIn(child, name)) return found;
  }
  return nullptr;
}

std::optional<CopyInLoop> FilledIn(const Stmt& alloc) {
  const Stmt& body = alloc->body[0];
  if (body->kind != StmtKind::kSeq || !Stores(body->body[0], alloc->buffer)) return std::nullopt;
  std::vector<Stmt> rest(body->body.begin() + 1, body->body.end());
  CopyInLoop filled{.alloc = alloc, .copy = body->body[0], .rest = loop::Seq(std::move(rest))};
  if (Stores(filled.rest, alloc->buffer) || Loads(filled.copy, alloc->buffer)) return std::nullopt;
  return filled;
}

// Whether the statement stores to its allocation's buffer alone, and the loop to nothing that it
// reads.
bool CanMove(const Stmt& loop, const CopyInLoop& copied) {
  bool can = true;
  loop::Walk(copied.copy, [&](const Stmt& s) {
    can = can && (s->kind != StmtKind::kStore || s->buffer == copied.alloc->buffer);
    loop::ForEachExpr(*s, [&](const Expr& e) {
      loop::Walk(e, [&](const Expr& load) {
        if (load->kind == loop::ExprKind::kLoad) can = can && !Stores(loop, load->buffer);
      });
    });
    return can;
  });
  return can;
}

}  // namespace

absl::StatusOr<ConstantLoop> FindConstantLoop(const loop::Nest& nest, const Loop& loop) {
  ConstantLoop found;
  HONE_ASSIGN_OR_RETURN(found.site, FindLoop(nest, loop));
  const loop::StmtNode& s = *found.site.stmt;
  if (s.loop_kind != loop::LoopKind::kSerial || !loop::IsConstInt(s.min, &found.min) ||
      !loop::IsConstInt(s.extent, &found.extent)) {
    return absl::FailedPreconditionError(fmt::format(
        "only what a serial loop of constant bounds copies can be moved, '{}' is another",
        loop.name()));
  }
  return found;
}

absl::StatusOr<CopyInLoop> FindCopyInLoop(const Stmt& loop, const Stage& copied) {
  const Stmt alloc = AllocIn(loop->body[0], copied.buffer());
  std::optional<CopyInLoop> filled = alloc ? FilledIn(alloc) : std::nullopt;
  if (!filled || !CanMove(loop, *filled)) {
    return absl::FailedPreconditionError(
        fmt::format("expected a copy '{}' that each iteration of loop '{}' makes once, of what the "
                    "loop does not change; found none",
                    copied.buffer(), loop->var->name));
  }
  return *std::move(filled);
}

Stmt WithStores(const Stmt& s, const std::function<Stmt(const loop::StmtNode&)>& stored) {
  if (s->kind == StmtKind::kStore) return stored(*s);
  auto copy = std::make_shared<loop::StmtNode>(*s);
  for (Stmt& child : copy->body) child = WithStores(child, stored);
  return copy;
}

}  // namespace hone::schedule
