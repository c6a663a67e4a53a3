#include "compiler/schedule/primitives/pipeline_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/copy_in_loop.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

// The buffer with a first axis of so many slots, each laid out as the buffer is.
Buffer WithSlots(const loop::BufferNode& buffer, int64_t slots) {
  auto node = std::make_shared<loop::BufferNode>(buffer);
  node->shape.insert(node->shape.begin(), slots);
  const int rank = static_cast<int>(node->shape.size());
  const std::string letters = AxisLetters(rank);
  std::string layout(1, letters[0]);
  for (const Layout::Dim& dim : buffer.layout.dims()) {
    const char letter = letters[static_cast<size_t>(dim.axis) + 1];
    layout += dim.factor == 0 ? std::string(1, letter)
                              : fmt::format("{}{}", dim.factor, absl::ascii_tolower(letter));
  }
  node->layout = Layout::Parse(layout, rank).value_or(Layout::RowMajor(rank));
  return node;
}

// A copy of the loop, and what becomes of it.
struct PipelinedCopy {
  CopyInLoop found;
  Buffer slots;
  Stmt ahead;  // the copy that an iteration makes for a later one
};

// The body of the loop: each copy is the one for a later iteration, and what reads it does so in
// the slot of this one.
class PipelinedBody : public loop::Mutator {
 public:
  PipelinedBody(const std::vector<PipelinedCopy>& copies, Expr slot)
      : copies_(copies), slot_(std::move(slot)) {}

  Expr Rewrite(const Expr& e) override {
    const PipelinedCopy* const copy = e->kind == loop::ExprKind::kLoad ? Find(e->buffer) : nullptr;
    if (copy == nullptr) return RewriteChildren(e);
    std::vector<Expr> indices = {slot_};
    for (const Expr& index : e->operands) indices.push_back(Rewrite(index));
    return loop::Load(copy->slots, std::move(indices));
  }

  Stmt Rewrite(const Stmt& s) override {
    const PipelinedCopy* const copy = s->kind == loop::StmtKind::kAlloc ? Find(s->buffer) : nullptr;
    if (copy == nullptr) return RewriteChildren(s);
    return loop::Seq({copy->ahead, Rewrite(copy->found.rest)});
  }

 private:
  const PipelinedCopy* Find(const Buffer& buffer) const {
    for (const PipelinedCopy& copy : copies_) {
      if (copy.found.alloc->buffer == buffer) return &copy;
    }
    return nullptr;
  }

  const std::vector<PipelinedCopy>& copies_;
  const Expr slot_;
};

// The copy of an iteration, in a slot.
Stmt CopyInto(const Buffer& slots, const Expr& slot, const CopyInLoop& copied, const Expr& var,
              const Expr& iteration) {
  return WithStores(loop::Substitute(copied.copy, loop::VarMap{{var.get(), iteration}}),
                    [&](const loop::StmtNode& store) {
                      std::vector<Expr> indices = {slot};
                      indices.insert(indices.end(), store.indices.begin(), store.indices.end());
                      return loop::Store(slots, std::move(indices), store.value);
                    });
}

// The statement on a condition, which stands inside of the thread loops that it begins with.
Stmt InThreadsIf(const Expr& condition, const Stmt& s) {
  if (s->kind != loop::StmtKind::kFor || s->loop_kind != loop::LoopKind::kThread) {
    return loop::If(condition, s);
  }
  auto copy = std::make_shared<loop::StmtNode>(*s);
  copy->body = {InThreadsIf(condition, s->body[0])};
  return copy;
}

}  // namespace

absl::Status PipelineCopies(loop::Nest* nest, const Loop& loop, const std::vector<Stage>& copies,
                            int64_t most_slots, int64_t slots_behind) {
  if (slots_behind < 0 || most_slots < slots_behind + 2 || copies.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("expected copies and two slots or more for them beside {}, found {} and {}",
                    slots_behind, copies.size(), most_slots));
  }
  HONE_ASSIGN_OR_RETURN(const ConstantLoop steps, FindConstantLoop(*nest, loop));
  const Stmt& k = steps.stmt();
  std::vector<PipelinedCopy> pipelined;
  for (const Stage& copy : copies) {
    HONE_ASSIGN_OR_RETURN(pipelined.emplace_back().found, FindCopyInLoop(k, copy));
  }
  if (steps.extent < 2) return absl::OkStatus();
  const int64_t slots = std::min(most_slots, steps.extent);
  const auto slot_of = [&](const Expr& iteration) {
    return loop::FloorMod(iteration - Expr(steps.min), slots);
  };
  const Expr first = loop::Var(UniqueLoopName(*nest, k->var->name + "_first"));
  const int64_t steps_ahead = std::max<int64_t>(slots - 1 - slots_behind, 1);
  const Expr ahead = k->var + Expr(steps_ahead);
  const Expr is_there = loop::Lt(ahead, Expr(steps.min + steps.extent));
  std::vector<Stmt> first_copies;
  for (PipelinedCopy& copy : pipelined) {
    copy.slots = WithSlots(*copy.found.alloc->buffer, slots);
    copy.ahead =
        InThreadsIf(is_there, CopyInto(copy.slots, slot_of(ahead), copy.found, k->var, ahead));
    first_copies.push_back(loop::RenameFresh(
        CopyInto(copy.slots, first, copy.found, k->var, first + Expr(steps.min)),
        [&](const std::string& old) { return UniqueLoopName(*nest, old + "_first"); }));
  }
  Stmt all = loop::Seq({loop::For(first, 0, steps_ahead, loop::Seq(std::move(first_copies))),
                        loop::For(k->var, k->min, k->extent,
                                  PipelinedBody(pipelined, slot_of(k->var)).Rewrite(k->body[0]))});
  for (const PipelinedCopy& copy : pipelined) all = loop::Alloc(copy.slots, std::move(all));
  ReplaceAt(nest, steps.site, std::move(all));
  return absl::OkStatus();
}

}  // namespace hone::schedule
