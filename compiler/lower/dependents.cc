#include "compiler/lower/dependents.h"

#include <algorithm>

#include "compiler/loop/launch_access.h"
#include "compiler/loop/visit.h"

namespace hone::lower {
namespace {

using loop::Expr;
using loop::ExprKind;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using loop::StmtNode;

bool IsSameElement(const StmtNode& store, const Expr& load) {
  return load->kind == ExprKind::kLoad && load->buffer == store.buffer &&
         std::ranges::equal(load->operands, store.indices, [](const Expr& a, const Expr& b) {
           return loop::StructuralEqual(a, b);
         });
}

bool UpdatesElement(const StmtNode& store) {
  bool found = false;
  loop::Walk(store.value, [&](const Expr& e) { found = found || IsSameElement(store, e); });
  return found;
}

bool IsLoopOfSums(const Stmt& s) {
  int64_t extent = 0;
  if (s->kind != StmtKind::kFor || s->loop_kind != LoopKind::kSerial ||
      (loop::IsConstInt(s->extent, &extent) && extent < 2)) {
    return false;
  }
  loop::BufferSet own;  // allocated in the loop
  bool found = false;
  loop::Walk(s->body[0], [&](const Stmt& inside) {
    if (inside->kind == StmtKind::kAlloc) own.insert(inside->buffer.get());
    const auto moves = [&](const Expr& index) { return loop::UsesVar(index, s->var); };
    found = found || (inside->kind == StmtKind::kStore && !own.contains(inside->buffer.get()) &&
                      std::ranges::none_of(inside->indices, moves) && UpdatesElement(*inside));
    return !found;
  });
  return found;
}

// Whether code generation emits the body once, in the place of the statement.
bool IsAroundOneBody(const StmtNode& s) {
  if (s.kind == StmtKind::kAlloc) return true;
  int64_t extent = 0;
  return s.kind == StmtKind::kFor && (s.loop_kind == LoopKind::kVectorize ||
                                      (loop::IsConstInt(s.extent, &extent) && extent == 1));
}

// `is_followed`: something is done behind the statement.
const StmtNode* EndOfSumsIn(const Stmt& s, bool is_followed) {
  if (s->kind == StmtKind::kSeq) {
    for (size_t i = s->body.size(); i-- > 0;) {
      if (FirstLoopOfSums(s->body[i])) {
        return EndOfSumsIn(s->body[i], is_followed || i + 1 < s->body.size());
      }
    }
    return nullptr;
  }
  if (IsAroundOneBody(*s)) return EndOfSumsIn(s->body[0], is_followed);
  // Behind a branch is better than in it, for there all threads come by.
  if (is_followed) return FirstLoopOfSums(s) ? s.get() : nullptr;
  const bool is_one_branch = s->kind == StmtKind::kIf && s->body.size() == 1;
  return is_one_branch ? EndOfSumsIn(s->body[0], is_followed) : nullptr;
}

}  // namespace

Stmt FirstLoopOfSums(const Stmt& s) {
  Stmt found;
  loop::Walk(s, [&](const Stmt& inside) {
    if (!found && IsLoopOfSums(inside)) found = inside;
    return !found;
  });
  return found;
}

const StmtNode* FindEndOfSums(const Stmt& body) { return EndOfSumsIn(body, /*is_followed=*/false); }

}  // namespace hone::lower
