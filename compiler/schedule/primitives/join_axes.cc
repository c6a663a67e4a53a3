#include "compiler/schedule/primitives/join_axes.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

namespace {

int64_t FromLast(const loop::BufferNode& buffer, size_t from_last) {
  return buffer.shape[buffer.shape.size() - from_last];
}

bool HasSameEnd(const loop::BufferNode& a, const loop::BufferNode& b) {
  return a.shape.size() == b.shape.size() && FromLast(a, 1) == FromLast(b, 1) &&
         FromLast(a, 2) == FromLast(b, 2) && a.layout.IsRowMajor();
}

Buffer Joined(const loop::BufferNode& buffer) {
  auto copy = std::make_shared<loop::BufferNode>(buffer);
  const int64_t last = copy->shape.back();
  copy->shape.pop_back();
  copy->shape.back() *= last;
  copy->layout = Layout::RowMajor(static_cast<int>(copy->shape.size()));
  return copy;
}

// A rewrite of one launch. Where the launch does not fit, `ok` ends false.
class JoinInLaunch : public loop::Mutator {
 public:
  // The extents are those of the axes that become one.
  JoinInLaunch(const loop::BufferMap& joined, int64_t outer_extent, int64_t inner_extent)
      : joined_(joined), outer_extent_(outer_extent), inner_extent_(inner_extent) {}

  bool ok() const { return ok_; }

  Expr Rewrite(const Expr& e) override {
    if (e->kind == ExprKind::kVar) {  // not as an index that is joined
      ok_ = ok_ && std::none_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
              return pair.outer.SameAs(e) || pair.inner.SameAs(e);
            });
      return e;
    }
    const auto it = e->kind == ExprKind::kLoad ? joined_.find(e->buffer.get()) : joined_.end();
    if (it == joined_.end()) return RewriteChildren(e);
    std::vector<Expr> indices = JoinIndices(e->operands);
    return ok_ ? loop::Load(it->second, std::move(indices)) : e;
  }

  Stmt Rewrite(const Stmt& s) override {
    if (s->kind == StmtKind::kFor) return RewriteLoop(s);
    if (s->kind == StmtKind::kPrefetch && joined_.contains(s->buffer.get())) {
      ok_ = false;
      return s;
    }
    const auto it = s->kind == StmtKind::kStore ? joined_.find(s->buffer.get()) : joined_.end();
    if (it == joined_.end()) return RewriteChildren(s);
    std::vector<Expr> indices = JoinIndices(s->indices);
    return ok_ ? loop::Store(it->second, std::move(indices), Rewrite(s->value)) : s;
  }

 private:
  struct Pair {
    Expr outer, inner, joined;
  };

  // Loops of one iteration leave their variable. Not to be used unless `ok`.
  std::vector<Expr> JoinIndices(const std::vector<Expr>& indices) {
    std::vector<Expr> rewritten;
    for (size_t d = 0; d + 2 < indices.size(); ++d) rewritten.push_back(Rewrite(indices[d]));
    const Expr outer = Simplify(indices[indices.size() - 2], bounds_);
    const Expr inner = Simplify(indices.back(), bounds_);
    for (const Pair& pair : pairs_) {
      // The variable of an axis of one index is simply that index.
      if (!loop::StructuralEqual(Simplify(pair.outer, bounds_), outer) ||
          !loop::StructuralEqual(Simplify(pair.inner, bounds_), inner)) {
        continue;
      }
      rewritten.push_back(pair.joined);
      return rewritten;
    }
    ok_ = false;
    return rewritten;
  }

  // Whether the loop and the one directly in it go through the last two axes.
  bool IsOuter(const Stmt& s) const {
    const Stmt& next = s->body[0];
    return next->kind == StmtKind::kFor && IsWhole(*s, outer_extent_) &&
           IsWhole(*next, inner_extent_) && IndexesJoined(next->body[0], s->var, next->var);
  }

  static bool IsWhole(const loop::StmtNode& s, int64_t extent) {
    return loop::IsInt(s.min, 0) && loop::IsInt(s.extent, extent) &&
           s.loop_kind == loop::LoopKind::kSerial;
  }

  // As it is written, where a variable with one value is itself, or what it comes to.
  bool Is(const Expr& index, const Expr& var) const {
    return index.SameAs(var) || Simplify(index, bounds_).SameAs(var);
  }

  // What is stored there, or read where a reduction goes through it.
  bool IndexesJoined(const Stmt& body, const Expr& outer, const Expr& inner) const {
    bool found = false;
    const auto look = [&](const loop::BufferNode* buffer, const std::vector<Expr>& indices) {
      if (found || !joined_.contains(buffer)) return;
      found = Is(indices[indices.size() - 2], outer) && Is(indices.back(), inner);
    };
    loop::Walk(
        body,
        [&](const Stmt& s) {
          if (s->kind == StmtKind::kStore) look(s->buffer.get(), s->indices);
          return true;
        },
        [&](const Expr& e) {
          if (e->kind == ExprKind::kLoad) look(e->buffer.get(), e->operands);
        });
    return found;
  }

  Stmt RewriteLoop(const Stmt& s) {
    bounds_.PushLoop(*s);
    if (!IsOuter(s)) {
      Stmt same = RewriteChildren(s);
      bounds_.Pop();
      return same;
    }
    const Stmt& next = s->body[0];
    bounds_.PushLoop(*next);
    const Expr joined = loop::Var(s->var->name);
    pairs_.push_back({s->var, next->var, joined});
    Stmt body = Rewrite(next->body[0]);
    bounds_.Pop();
    bounds_.Pop();
    return loop::For(joined, 0, s->extent * next->extent, std::move(body));
  }

  const loop::BufferMap& joined_;
  int64_t outer_extent_, inner_extent_;
  loop::Bounds bounds_;
  std::vector<Pair> pairs_;
  bool ok_ = true;
};

}  // namespace

absl::Status JoinLastAxes(loop::Nest* nest, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  if (buffer->shape.size() < 2 || !buffer->layout.IsRowMajor()) {
    return absl::FailedPreconditionError(
        fmt::format("'{}' has no two last axes that lie in order", name));
  }
  // What has such axes too cannot be told from what belongs to this buffer.
  if (FromLast(*buffer, 1) * FromLast(*buffer, 2) == 1) {
    return absl::FailedPreconditionError(
        fmt::format("the last two axes of '{}' have one index each", name));
  }
  loop::BufferMap joined;
  for (const Buffer& other : nest->buffers) {
    if (HasSameEnd(*other, *buffer)) joined[other.get()] = Joined(*other);
  }
  loop::Nest result = *nest;
  for (loop::Launch& launch : result.launches) {
    JoinInLaunch join(joined, FromLast(*buffer, 2), FromLast(*buffer, 1));
    launch.body = join.Rewrite(launch.body);
    if (join.ok()) continue;
    return absl::FailedPreconditionError(fmt::format(
        "launch '{}' does not go through the last two axes of '{}' together", launch.name, name));
  }
  for (Buffer& other : result.buffers) {
    if (const auto it = joined.find(other.get()); it != joined.end()) other = it->second;
  }
  *nest = std::move(result);
  return absl::OkStatus();
}

}  // namespace hone::schedule
