#include "compiler/schedule/primitives/split_axis.h"

#include <memory>
#include <utility>
#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/ceil_div.h"
#include "fmt/format.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

namespace {

Buffer FindAllocated(const loop::Nest& nest, const std::string& name) {
  Buffer found;
  for (const loop::Launch& launch : nest.launches) {
    loop::Walk(launch.body, [&](const Stmt& s) {
      if (s->kind == StmtKind::kAlloc && s->buffer->name == name) found = s->buffer;
      return !found;
    });
  }
  return found;
}

bool IsPrefetched(const loop::Nest& nest, const Buffer& buffer) {
  bool found = false;
  for (const loop::Launch& launch : nest.launches) {
    loop::Walk(launch.body, [&](const Stmt& s) {
      found = found || (s->kind == StmtKind::kPrefetch && s->buffer == buffer);
      return !found;
    });
  }
  return found;
}

class AxisSplitter : public loop::Mutator {
 public:
  AxisSplitter(Buffer from, Buffer to, size_t axis, int64_t factor)
      : from_(std::move(from)), to_(std::move(to)), axis_(axis), factor_(factor) {}

  Expr Rewrite(const Expr& e) override {
    if ((e->uses & loop::UseBit(from_.get())) == 0) return e;
    if (e->kind != ExprKind::kLoad || e->buffer != from_) return RewriteChildren(e);
    std::vector<Expr> indices;
    for (const Expr& operand : e->operands) indices.push_back(Rewrite(operand));
    return loop::Load(to_, SplitIndex(std::move(indices)));
  }

  Stmt Rewrite(const Stmt& s) override {
    if (s->kind == StmtKind::kFor) {
      bounds_.PushLoop(*s);
      Stmt rewritten = RewriteChildren(s);
      bounds_.Pop();
      return rewritten;
    }
    if (s->kind == StmtKind::kAlloc && s->buffer == from_) {
      return loop::Alloc(to_, Rewrite(s->body[0]));
    }
    if (s->kind != StmtKind::kStore || s->buffer != from_) return RewriteChildren(s);
    std::vector<Expr> indices;
    for (const Expr& index : s->indices) indices.push_back(Rewrite(index));
    return loop::Store(to_, SplitIndex(std::move(indices)), Rewrite(s->value));
  }

 private:
  std::vector<Expr> SplitIndex(std::vector<Expr> indices) const {
    const auto at = indices.begin() + static_cast<ptrdiff_t>(axis_);
    const Expr index = *at;
    *at = Simplify(loop::FloorDiv(index, factor_), bounds_);
    indices.insert(at + 1, Simplify(loop::FloorMod(index, factor_), bounds_));
    return indices;
  }

  const Buffer from_, to_;
  const size_t axis_;
  const int64_t factor_;
  loop::Bounds bounds_;
};

}  // namespace

absl::Status SplitAxis(loop::Nest* nest, const std::string& name, size_t axis, int64_t factor) {
  const Buffer buffer = FindAllocated(*nest, name);
  if (!buffer) return absl::NotFoundError(fmt::format("no launch allocates a buffer '{}'", name));
  if (axis >= buffer->shape.size() || factor < 1) {
    return absl::InvalidArgumentError(
        fmt::format("expected one of the {} axes of '{}' and a factor from 1, found {} and {}",
                    buffer->shape.size(), name, axis, factor));
  }
  if (!buffer->layout.IsRowMajor() || IsPrefetched(*nest, buffer)) {
    return absl::FailedPreconditionError(
        fmt::format("only what is row-major and not prefetched gets more axes, '{}' is not", name));
  }
  auto node = std::make_shared<loop::BufferNode>(*buffer);
  node->shape[axis] = CeilDiv(buffer->shape[axis], factor);
  node->shape.insert(node->shape.begin() + static_cast<ptrdiff_t>(axis) + 1, factor);
  node->layout = Layout::RowMajor(static_cast<int>(node->shape.size()));
  AxisSplitter splitter(buffer, std::move(node), axis, factor);
  for (loop::Launch& launch : nest->launches) launch.body = splitter.Rewrite(launch.body);
  return absl::OkStatus();
}

}  // namespace hone::schedule
