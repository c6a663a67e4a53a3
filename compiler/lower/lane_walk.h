// Walks a launch as it will be emitted: which loop's iterations are the lanes of vectors, and which
// of these lanes are at work.
#ifndef HONE_COMPILER_LOWER_LANE_WALK_H_
#define HONE_COMPILER_LOWER_LANE_WALK_H_

#include <functional>
#include <optional>
#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// The number of lanes of a vectorised loop; 0 for any other loop, and for a vectorised one that
// lowering turns into a serial loop because of that number (lanes.h).
int64_t VectorLanesOf(const loop::StmtNode& loop);

// What surrounds a statement. A value type that points into the launch.
struct LaneContext {
  loop::Bounds bounds;
  loop::Expr lane;          // the variable of the loop whose iterations are lanes; null outside
  loop::BufferSet of_lane;  // allocated inside that loop, so that each lane has its own
  bool is_masked = false;   // some lanes may be left out

  // The same inside a loop, and inside a branch of an `if`.
  LaneContext Inside(const loop::Stmt& loop) const;
  LaneContext Under(const loop::Expr& condition, bool truth) const;

  // Where an access lies, in elements from the start of the buffer.
  loop::Linear OffsetOf(const loop::BufferNode& buffer,
                        const std::vector<loop::Expr>& indices) const;
  // Whether the access, and the loads of its indices, stay within their buffers.
  bool IsInside(const loop::BufferNode& buffer, const std::vector<loop::Expr>& indices) const;
};

// Whether one of the values is computed from loads of the buffer, so that a store to it may change
// the value.
bool DependOn(const std::vector<loop::Expr>& values, const loop::BufferNode& buffer);

// How far `offset` moves when `var` grows by one; nullopt if it does not move in equal steps.
std::optional<int64_t> MoveOf(const loop::Linear& offset, const loop::Expr& var);

// Calls `enter` with each statement, the outer before the inner; it returns false to skip what is
// inside. `outside` are the bounds of the variables around `body`.
void WalkLanes(const loop::Stmt& body, const loop::Bounds& outside,
               const std::function<bool(const loop::Stmt&, const LaneContext&)>& enter);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LANE_WALK_H_
