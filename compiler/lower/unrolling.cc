#include "compiler/lower/unrolling.h"

#include <algorithm>

#include "compiler/loop/bounds.h"
#include "compiler/loop/visit.h"

namespace hone::lower {
namespace {

using loop::LoopKind;
using loop::Stmt;

constexpr int64_t kMostIterations = 1 << 16;

class Limit final : public loop::Mutator {
 public:
  using loop::Mutator::Rewrite;

  Stmt Rewrite(const Stmt& s) override {
    if (s->kind != loop::StmtKind::kFor) return RewriteChildren(s);
    const int64_t before = iterations_;
    const loop::Interval extent = loop::BoundsOf(s->extent, bounds_);
    bounds_.PushLoop(*s);
    const Stmt rewritten = RewriteChildren(s);
    bounds_.Pop();
    if (s->loop_kind != LoopKind::kUnroll && s->loop_kind != LoopKind::kDot) return rewritten;
    const int64_t of_one = 1 + iterations_ - before;
    if (!extent.HasMax() || extent.max > (kMostIterations - before) / of_one) {
      return loop::For(s->var, s->min, s->extent, rewritten->body[0]);
    }
    iterations_ = before + std::max<int64_t>(extent.max, 0) * of_one;
    return rewritten;
  }

 private:
  loop::Bounds bounds_;
  int64_t iterations_ = 0;  // written out so far; inside an unrolled loop, for one of its own
};

}  // namespace

Stmt LimitUnrolling(const Stmt& body) { return Limit().Rewrite(body); }

}  // namespace hone::lower
