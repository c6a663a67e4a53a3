#include "compiler/schedule/generic/memory_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/stage.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

// A buffer in the place of another one, whose axis i is axis `axes[i]` there.
struct Reordered {
  Buffer buffer;
  std::vector<size_t> axes;
};
using ReorderedBuffers = absl::flat_hash_map<const loop::BufferNode*, Reordered>;

// Puts other buffers in the place of those that loads and stores name.
class BufferReorder : public loop::Mutator {
 public:
  explicit BufferReorder(const ReorderedBuffers& buffers) : buffers_(buffers) {}

  Expr Rewrite(const Expr& e) override {
    const auto found =
        e->kind == loop::ExprKind::kLoad ? buffers_.find(e->buffer.get()) : buffers_.end();
    if (found == buffers_.end()) return RewriteChildren(e);
    return loop::Load(found->second.buffer, IndicesOf(found->second, e->operands));
  }
  Stmt Rewrite(const Stmt& s) override {
    const auto found =
        s->kind == loop::StmtKind::kStore ? buffers_.find(s->buffer.get()) : buffers_.end();
    if (found == buffers_.end()) return RewriteChildren(s);
    return loop::Store(found->second.buffer, IndicesOf(found->second, s->indices),
                       Rewrite(s->value));
  }

 private:
  std::vector<Expr> IndicesOf(const Reordered& to, const std::vector<Expr>& indices) {
    std::vector<Expr> reordered;
    for (const size_t axis : to.axes) reordered.push_back(Rewrite(indices[axis]));
    return reordered;
  }

  const ReorderedBuffers& buffers_;
};

void ReplaceBuffers(loop::Nest* nest, const ReorderedBuffers& buffers) {
  BufferReorder reorder(buffers);
  for (loop::Launch& launch : nest->launches) launch.body = reorder.Rewrite(launch.body);
  for (Buffer& buffer : nest->buffers) {
    const auto found = buffers.find(buffer.get());
    if (found != buffers.end()) buffer = found->second.buffer;
  }
}

// The axes in the order of memory.
std::vector<size_t> AxesOf(const Layout& layout) {
  std::vector<size_t> axes;
  for (const Layout::Dim& dim : layout.dims()) axes.push_back(static_cast<size_t>(dim.axis));
  return axes;
}

Reordered RowMajorOf(const loop::BufferNode& buffer, const Layout& layout) {
  auto node = std::make_shared<loop::BufferNode>(buffer);
  Reordered reordered{.buffer = nullptr, .axes = AxesOf(layout)};
  for (size_t i = 0; i < reordered.axes.size(); ++i) {
    node->shape[i] = buffer.shape[reordered.axes[i]];
  }
  reordered.buffer = std::move(node);
  return reordered;
}

// The layout of each input and output of the nest.
std::vector<std::pair<Buffer, Layout>> LayoutsOf(const loop::Nest& nest,
                                                 const ir::LayoutSignature& signature) {
  std::vector<std::pair<Buffer, Layout>> layouts;
  const auto add = [&](const std::vector<Buffer>& buffers, const std::vector<Layout>& of) {
    for (size_t i = 0; i < buffers.size(); ++i) layouts.emplace_back(buffers[i], of[i]);
  };
  add(InputsOf(nest), signature.operands);
  add(OutputsOf(nest), signature.results);
  return layouts;
}

// The loops of the stage that fills `buffer`, in the order of the axes that it gets.
absl::StatusOr<Stmt> InOrder(const loop::Nest& nest, size_t launch, const Buffer& buffer,
                             const std::vector<size_t>& axes) {
  HONE_ASSIGN_OR_RETURN(const StageNest stage, MatchStage(nest, launch, buffer));
  loop::VarMap variables;
  std::vector<Expr> fresh;
  for (size_t i = 0; i < axes.size(); ++i) {
    fresh.push_back(loop::Var(std::string(Stage(buffer->name).Axis(i).name())));
    variables[stage.loops[axes[i]]->var.get()] = fresh.back();
  }
  Stmt body = loop::Substitute(stage.body, variables);
  for (size_t i = axes.size(); i-- > 0;) {
    const Stmt& loop = stage.loops[axes[i]];
    body = loop::For(fresh[i], loop->min, loop->extent, std::move(body), loop->loop_kind);
  }
  return body;
}

}  // namespace

ops::KernelDefinition InMemoryOrder(const ops::KernelDefinition& def,
                                    const ir::LayoutSignature& signature) {
  ReorderedBuffers buffers;
  std::optional<Layout> of_images;  // the layout of all of them
  bool is_same = true;
  for (const auto& [buffer, layout] : LayoutsOf(def.naive, signature)) {
    if (!layout.IsRowMajor()) buffers[buffer.get()] = RowMajorOf(*buffer, layout);
    if (buffer->shape.size() != kImageRank) continue;
    is_same = is_same && (!of_images || *of_images == layout);
    of_images = layout;
  }
  for (const Buffer& buffer : def.naive.buffers) {
    const bool is_image = buffer->role == loop::Role::kWorkspace &&
                          buffer->shape.size() == kImageRank && of_images && is_same;
    if (is_image && !of_images->IsRowMajor()) {
      buffers[buffer.get()] = RowMajorOf(*buffer, *of_images);
    }
  }
  ops::KernelDefinition ordered = def;
  for (const Buffer& buffer : def.naive.buffers) {
    const auto reordered = buffers.find(buffer.get());
    if (reordered == buffers.end() || buffer->role == loop::Role::kInput) continue;
    const absl::StatusOr<size_t> launch = WriterOf(def.naive, buffer);
    if (!launch.ok()) continue;
    absl::StatusOr<Stmt> body = InOrder(def.naive, *launch, buffer, reordered->second.axes);
    // Where a launch does not have the form of a stage, its loops stay in the order that they have.
    if (body.ok()) ordered.naive.launches[*launch].body = *std::move(body);
  }
  ReplaceBuffers(&ordered.naive, buffers);
  return ordered;
}

loop::Nest InLogicalOrder(const loop::Nest& nest, const ops::KernelDefinition& def,
                          const ir::LayoutSignature& signature) {
  ReorderedBuffers buffers;
  for (const auto& [buffer, layout] : LayoutsOf(def.naive, signature)) {
    if (layout.IsRowMajor()) continue;
    const auto found =
        std::ranges::find(nest.buffers, buffer->name, [](const Buffer& b) { return b->name; });
    if (found == nest.buffers.end()) continue;
    auto node = std::make_shared<loop::BufferNode>(*buffer);
    node->layout = layout;
    Reordered& back = buffers[found->get()];
    back.buffer = std::move(node);
    const std::vector<size_t> axes = AxesOf(layout);
    back.axes.resize(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) back.axes[axes[i]] = i;
  }
  loop::Nest logical = nest;
  ReplaceBuffers(&logical, buffers);
  return logical;
}

}  // namespace hone::schedule
