#include "compiler/lower/block_access.h"

#include <algorithm>

#include "compiler/loop/scalar.h"
#include "compiler/loop/visit.h"

namespace hone::lower {

using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;

namespace {

bool IsOfBlock(const loop::BufferNode& buffer) {
  return buffer.scope == loop::Scope::kGlobal || buffer.scope == loop::Scope::kShared;
}

}  // namespace

std::optional<Slot> SlotOf(const loop::BufferNode& buffer, const std::vector<Expr>& indices) {
  if (indices.empty() || buffer.shape[0] < 1) return std::nullopt;
  const int64_t extent = buffer.shape[0];
  Expr index = indices[0];
  int64_t value = 0;
  if (IsBinary(index, BinaryOp::kFloorMod) && loop::IsConstInt(index->operands[1], &value) &&
      value == extent) {
    index = index->operands[0];
  }
  if (loop::IsConstInt(index, &value)) return Slot{.offset = loop::FloorModInt(value, extent)};
  if (index->kind == ExprKind::kVar) return Slot{.var = index.get()};
  if (!IsBinary(index, BinaryOp::kAdd)) return std::nullopt;
  for (const size_t var : {size_t{0}, size_t{1}}) {
    if (index->operands[var]->kind == ExprKind::kVar &&
        loop::IsConstInt(index->operands[1 - var], &value)) {
      return Slot{.var = index->operands[var].get(), .offset = loop::FloorModInt(value, extent)};
    }
  }
  return std::nullopt;
}

BlockAccess::BlockAccess(const loop::Stmt& s, const Variables& loops) {
  const auto place_of = [&](const loop::Buffer& buffer, const std::vector<Expr>& indices) {
    Place place{.buffer = buffer.get(), .slot = SlotOf(*buffer, indices)};
    if (place.slot && place.slot->var != nullptr && !loops.contains(place.slot->var)) {
      place.slot.reset();
    }
    return place;
  };
  loop::Walk(
      s,
      [&](const loop::Stmt& inside) {
        if (inside->kind == loop::StmtKind::kStore && IsOfBlock(*inside->buffer)) {
          written_.insert(place_of(inside->buffer, inside->indices));
        }
        return true;
      },
      [&](const Expr& e) {
        if (e->kind == ExprKind::kLoad && IsOfBlock(*e->buffer)) {
          read_.insert(place_of(e->buffer, e->operands));
        }
      });
}

bool BlockAccess::Place::Meets(const Place& other) const {
  if (buffer != other.buffer) return false;
  return !slot || !other.slot || slot->var != other.slot->var || slot->offset == other.slot->offset;
}

bool BlockAccess::Meet(const Places& a, const Places& b) {
  return std::ranges::any_of(a, [&](const Place& place) {
    return std::ranges::any_of(b, [&](const Place& other) { return place.Meets(other); });
  });
}

void BlockAccess::Add(const BlockAccess& other) {
  read_.insert(other.read_.begin(), other.read_.end());
  written_.insert(other.written_.begin(), other.written_.end());
}

bool BlockAccess::DependsOn(const BlockAccess& earlier) const {
  return Meet(read_, earlier.written_) || Meet(written_, earlier.written_) ||
         Meet(written_, earlier.read_);
}

template <typename Change>
BlockAccess BlockAccess::WithSlots(const Change& change) const {
  const auto changed = [&](const Places& places) {
    Places all;
    for (Place place : places) {
      if (place.slot) place.slot = change(*place.buffer, *place.slot);
      all.insert(place);
    }
    return all;
  };
  BlockAccess access;
  access.read_ = changed(read_);
  access.written_ = changed(written_);
  return access;
}

// The variable is one more there.
BlockAccess BlockAccess::InNextIteration(const loop::ExprNode* var) const {
  return WithSlots([&](const loop::BufferNode& buffer, Slot slot) -> std::optional<Slot> {
    if (slot.var == var) slot.offset = loop::FloorModInt(slot.offset - 1, buffer.shape[0]);
    return slot;
  });
}

BlockAccess BlockAccess::BehindLoop(const loop::ExprNode* var) const {
  return WithSlots([&](const loop::BufferNode&, const Slot& slot) {
    return slot.var == var ? std::nullopt : std::optional(slot);
  });
}

bool BlockAccess::WritesShared() const {
  return std::ranges::any_of(
      written_, [](const Place& place) { return place.buffer->scope == loop::Scope::kShared; });
}

bool BlockAccess::TouchesSharedBut(const std::set<const loop::BufferNode*>& live) const {
  const auto is_gone = [&](const Place& place) {
    return place.buffer->scope == loop::Scope::kShared && !live.contains(place.buffer);
  };
  return std::ranges::any_of(read_, is_gone) || std::ranges::any_of(written_, is_gone);
}

}  // namespace hone::lower
