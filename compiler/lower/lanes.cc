#include "compiler/lower/lanes.h"

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/visit.h"
#include "compiler/lower/lane_walk.h"

namespace hone::lower {
namespace {

// Finds out whether the lanes of a vectorised loop can go together.
class LaneCheck {
 public:
  explicit LaneCheck(const loop::Stmt& loop) : var_(loop->var) {
    loop::Walk(loop->body[0], [&](const loop::Stmt& s) {
      if (s->kind == loop::StmtKind::kStore) written_.insert(s->buffer.get());
      if (s->kind == loop::StmtKind::kAlloc) own_.insert(s->buffer.get());
      return true;
    });
    loop::Walk(loop->body[0], [&](const loop::Stmt& s) {
      Visit(*s);
      return true;
    });
  }
  bool together() const { return together_; }

 private:
  // Whether the value may differ from lane to lane.
  bool Varies(const loop::Expr& e) const {
    bool varies = false;
    loop::Walk(e, [&](const loop::Expr& x) {
      if (x.SameAs(var_)) varies = true;
      if (x->kind == loop::ExprKind::kLoad && written_.contains(x->buffer.get())) varies = true;
    });
    return varies;
  }

  void Visit(const loop::StmtNode& s) {
    switch (s.kind) {
      case loop::StmtKind::kFor:
        if (s.loop_kind == loop::LoopKind::kVectorize || Varies(s.min) || Varies(s.extent)) {
          together_ = false;
        }
        break;
      case loop::StmtKind::kWhile:
        if (Varies(s.condition)) together_ = false;
        break;
      case loop::StmtKind::kStore: {
        bool apart = own_.contains(s.buffer.get());
        for (const loop::Expr& index : s.indices) apart = apart || Varies(index);
        if (!apart) together_ = false;
        break;
      }
      default:
        break;
    }
  }

  loop::Expr var_;
  absl::flat_hash_set<const loop::BufferNode*> written_;
  absl::flat_hash_set<const loop::BufferNode*> own_;
  bool together_ = true;
};

class Serialise final : public loop::Mutator {
 public:
  using loop::Mutator::Rewrite;
  loop::Stmt Rewrite(const loop::Stmt& s) override {
    const bool vectorised =
        s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kVectorize;
    // It is decided by the loop as it was: one of two nested ones stays a vector.
    const bool apart = vectorised && (VectorLanesOf(*s) == 0 || !LaneCheck(s).together());
    const loop::Stmt rewritten = RewriteChildren(s);
    if (!apart) return rewritten;
    return loop::For(rewritten->var, rewritten->min, rewritten->extent, rewritten->body[0]);
  }
};

}  // namespace

loop::Stmt SerialiseLanesApart(const loop::Stmt& body) { return Serialise().Rewrite(body); }

}  // namespace hone::lower
