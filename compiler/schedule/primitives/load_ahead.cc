#include "compiler/schedule/primitives/load_ahead.h"

#include <memory>
#include <string>
#include <utility>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/copy_in_loop.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

namespace {

// `s` with another statement in the place of `old`, which is in it.
Stmt Replace(const Stmt& s, const Stmt& old, const Stmt& with) {
  if (s == old) return with;
  auto copy = std::make_shared<loop::StmtNode>(*s);
  for (Stmt& child : copy->body) child = Replace(child, old, with);
  return copy;
}

}  // namespace

absl::Status LoadAhead(loop::Nest* nest, const Loop& loop, const Stage& copied) {
  HONE_ASSIGN_OR_RETURN(const ConstantLoop steps, FindConstantLoop(*nest, loop));
  const Stmt& k = steps.stmt();
  HONE_ASSIGN_OR_RETURN(const CopyInLoop found, FindCopyInLoop(k, copied));
  if (steps.extent < 2) return absl::OkStatus();
  const auto fresh = [&](const char* suffix) {
    return [nest, suffix](const std::string& old) { return UniqueLoopName(*nest, old + suffix); };
  };
  const auto at = [&](const Expr& iteration, const char* suffix) {
    return loop::RenameFresh(loop::Substitute(found.copy, loop::VarMap{{k->var.get(), iteration}}),
                             fresh(suffix));
  };
  auto node = std::make_shared<loop::BufferNode>(*found.alloc->buffer);
  node->name = copied.buffer() + ".ahead";
  node->scope = loop::Scope::kRegister;
  node->layout = Layout::RowMajor(static_cast<int>(node->shape.size()));
  const Buffer ahead = std::move(node);
  const auto load = [&](const Expr& iteration, const char* suffix) {
    return WithStores(at(iteration, suffix), [&](const loop::StmtNode& store) {
      return loop::Store(ahead, store.indices, store.value);
    });
  };
  const Stmt store = WithStores(found.copy, [&](const loop::StmtNode& old) {
    return loop::Store(old.buffer, old.indices, loop::Load(ahead, old.indices));
  });
  const Expr next = k->var + Expr(1);
  const Stmt load_next =
      loop::If(loop::Lt(next, Expr(steps.min + steps.extent)), load(next, "_ahead"));
  const Stmt body =
      Replace(k->body[0], found.alloc,
              loop::Alloc(found.alloc->buffer, loop::Seq({store, load_next, found.rest})));
  ReplaceAt(nest, steps.site,
            loop::Alloc(ahead, loop::Seq({load(Expr(steps.min), "_first"),
                                          loop::For(k->var, k->min, k->extent, body)})));
  return absl::OkStatus();
}

}  // namespace hone::schedule
