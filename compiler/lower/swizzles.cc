#include "compiler/lower/swizzles.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/lower/lane_walk.h"

namespace hone::lower {
namespace {

constexpr int64_t kChunkElements = 8;  // 16 bytes

// Whether the lanes around the access, if there are any, access one element or neighbours within a
// chunk.
bool IsWithinChunk(const loop::BufferNode& buffer, const std::vector<loop::Expr>& indices,
                   const LaneContext& context) {
  if (!context.lane) return true;
  const loop::Linear offset = context.OffsetOf(buffer, indices);
  const std::optional<int64_t> move = MoveOf(offset, context.lane);
  if (move == 0) return true;
  const loop::Interval lanes = loop::BoundsOf(context.lane, context.bounds);
  const int64_t neighbours = lanes.max - lanes.min + 1;
  if (move != 1 || kChunkElements % neighbours != 0) return false;
  return (offset.constant() + lanes.min) % neighbours == 0 &&
         std::ranges::all_of(offset.terms(), [&](const loop::Linear::Term& term) {
           return term.atom.SameAs(context.lane) || term.coefficient % neighbours == 0;
         });
}

}  // namespace

loop::BufferSet BuffersAccessedAcrossChunks(
    const loop::Stmt& body, const loop::Bounds& outside,
    const std::function<bool(const loop::Stmt&)>& is_by_descriptor,
    const std::function<bool(const loop::Stmt&)>& is_of_warps) {
  loop::BufferSet found;
  WalkLanes(body, outside, [&](const loop::Stmt& s, const LaneContext& context) {
    if (is_by_descriptor(s)) return false;
    if (is_of_warps(s)) {
      const loop::LaunchAccess access = loop::AccessOf(s);
      found.insert(access.read.begin(), access.read.end());
      found.insert(access.written.begin(), access.written.end());
      return false;
    }
    const auto look = [&](const loop::BufferNode& buffer, const std::vector<loop::Expr>& indices) {
      if (!IsWithinChunk(buffer, indices, context)) found.insert(&buffer);
    };
    if (s->kind == loop::StmtKind::kStore) look(*s->buffer, s->indices);
    loop::ForEachExpr(*s, [&](const loop::Expr& value) {
      loop::Walk(value, [&](const loop::Expr& e) {
        if (e->kind == loop::ExprKind::kLoad) look(*e->buffer, e->operands);
      });
    });
    return true;
  });
  return found;
}

}  // namespace hone::lower
