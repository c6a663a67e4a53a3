#include "compiler/schedule/primitives/load_ahead.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
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

// The statement that fills the buffer at the start of its allocation's body, and what is behind it.
struct Filled {
  Stmt copy, rest;
};

std::optional<Filled> FilledIn(const loop::StmtNode& alloc) {
  const Stmt& body = alloc.body[0];
  if (body->kind != StmtKind::kSeq || !Stores(body->body[0], alloc.buffer)) return std::nullopt;
  Filled filled{.copy = body->body[0], .rest = {}};
  std::vector<Stmt> rest(body->body.begin() + 1, body->body.end());
  filled.rest = loop::Seq(std::move(rest));
  if (Stores(filled.rest, alloc.buffer) || Loads(filled.copy, alloc.buffer)) return std::nullopt;
  return filled;
}

// Whether the statement stores to its allocation's buffer alone, and the loop to nothing that it
// reads.
bool CanMove(const Stmt& loop, const loop::StmtNode& alloc, const Stmt& copy) {
  bool can = true;
  loop::Walk(copy, [&](const Stmt& s) {
    can = can && (s->kind != StmtKind::kStore || s->buffer == alloc.buffer);
    loop::ForEachExpr(*s, [&](const Expr& e) {
      loop::Walk(e, [&](const Expr& load) {
        if (load->kind == loop::ExprKind::kLoad) can = can && !Stores(loop, load->buffer);
      });
    });
    return can;
  });
  return can;
}

// The same loops and conditions; each store is what `stored` makes of it.
template <typename Make>
Stmt WithStores(const Stmt& s, const Make& stored) {
  if (s->kind == StmtKind::kStore) return stored(*s);
  auto copy = std::make_shared<loop::StmtNode>(*s);
  for (Stmt& child : copy->body) child = WithStores(child, stored);
  return copy;
}

Stmt Replace(const Stmt& s, const Stmt& old, const Stmt& with) {
  if (s == old) return with;
  auto copy = std::make_shared<loop::StmtNode>(*s);
  for (Stmt& child : copy->body) child = Replace(child, old, with);
  return copy;
}

}  // namespace

absl::Status LoadAhead(loop::Nest* nest, const Loop& loop, const Stage& copied) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  const Stmt& k = site.stmt;
  const std::string& name = copied.buffer();
  int64_t min = 0, extent = 0;
  if (k->loop_kind != loop::LoopKind::kSerial || !loop::IsConstInt(k->min, &min) ||
      !loop::IsConstInt(k->extent, &extent)) {
    return absl::FailedPreconditionError(fmt::format(
        "only a serial loop of constant bounds can load ahead, '{}' is another", loop.name()));
  }
  const Stmt alloc = AllocIn(k->body[0], name);
  const std::optional<Filled> filled = alloc ? FilledIn(*alloc) : std::nullopt;
  if (!filled || !CanMove(k, *alloc, filled->copy)) {
    return absl::FailedPreconditionError(
        fmt::format("expected a copy '{}' that each iteration of loop '{}' makes once, of what the "
                    "loop does not change; found none",
                    name, loop.name()));
  }
  if (extent < 2) return absl::OkStatus();
  const auto fresh = [&](const char* suffix) {
    return [nest, suffix](const std::string& old) { return UniqueLoopName(*nest, old + suffix); };
  };
  const auto at = [&](const Expr& iteration, const char* suffix) {
    return loop::RenameFresh(
        loop::Substitute(filled->copy, loop::VarMap{{k->var.get(), iteration}}), fresh(suffix));
  };
  auto node = std::make_shared<loop::BufferNode>(*alloc->buffer);
  node->name = name + ".ahead";
  node->scope = loop::Scope::kRegister;
  node->layout = Layout::RowMajor(static_cast<int>(node->shape.size()));
  const Buffer ahead = std::move(node);
  const auto load = [&](const Expr& iteration, const char* suffix) {
    return WithStores(at(iteration, suffix), [&](const loop::StmtNode& store) {
      return loop::Store(ahead, store.indices, store.value);
    });
  };
  const Stmt store = WithStores(filled->copy, [&](const loop::StmtNode& old) {
    return loop::Store(old.buffer, old.indices, loop::Load(ahead, old.indices));
  });
  const Expr next = k->var + Expr(1);
  const Stmt load_next = loop::If(loop::Lt(next, Expr(min + extent)), load(next, "_ahead"));
  const Stmt body = Replace(
      k->body[0], alloc, loop::Alloc(alloc->buffer, loop::Seq({store, load_next, filled->rest})));
  ReplaceAt(nest, site,
            loop::Alloc(ahead, loop::Seq({load(Expr(min), "_first"),
                                          loop::For(k->var, k->min, k->extent, body)})));
  return absl::OkStatus();
}

}  // namespace hone::schedule
