// Finding and replacing parts of a nest: what the primitives share. Loops are addressed by the name
// of their variable, buffers by theirs; both are unique in a nest.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_NEST_EDIT_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_NEST_EDIT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// A statement and the way to it. Keeps the nodes alive; stale once the nest changes.
struct Site {
  size_t launch = 0;
  std::vector<std::pair<loop::Stmt, size_t>> path;  // ancestor and which child, outermost first
  loop::Stmt stmt;
};

absl::StatusOr<Site> FindLoop(const loop::Nest& nest, const Loop& loop);
// The kNotFound that FindLoop answers: which loop, of which stage, and what loops that has.
absl::Status MissingLoop(const loop::Nest& nest, const Loop& loop);
// The loop and its copies: peeling makes "i_last" of "i".
std::vector<Loop> LoopCopies(const loop::Nest& nest, const Loop& loop);
bool HasLoop(const loop::Nest& nest, const Loop& loop);
// Finds a buffer in the table of the nest, which has only global ones. The message of kNotFound
// names it.
absl::StatusOr<loop::Buffer> FindBuffer(const loop::Nest& nest, std::string_view name);

// Puts `replacement` in the place of the statement at `site`; an empty one removes it.
void ReplaceAt(loop::Nest* nest, const Site& site, loop::Stmt replacement);
// The bounds that the loops around the statement at `site` give to their variables.
loop::Bounds BoundsAt(const Site& site);
// `name`, or `name` with the first suffix that no loop has.
std::string UniqueLoopName(const loop::Nest& nest, const std::string& name);

// The launch that stores to the buffer: kFailedPrecondition unless it is exactly one.
absl::StatusOr<size_t> WriterOf(const loop::Nest& nest, const loop::Buffer& buffer);
// The parts of a condition that are joined by ands, in order.
std::vector<loop::Expr> ConjunctsOf(const loop::Expr& condition);
bool Loads(const loop::Expr& e, const loop::Buffer& buffer);
bool Loads(const loop::Stmt& s, const loop::Buffer& buffer);
bool Stores(const loop::Stmt& s, const loop::Buffer& buffer);
// The same loops around another body, the first outermost.
loop::Stmt Around(const std::vector<loop::Stmt>& loops, loop::Stmt body);
// Removes a buffer from the table of the nest.
void RemoveBuffer(loop::Nest* nest, const loop::Buffer& buffer);
// Inserts a buffer into the table of the nest, behind those of its role.
void InsertBuffer(loop::Nest* nest, loop::Buffer buffer);

// A stage as NestBuilder makes it: one loop over each dimension of `buffer`, around a body that
// stores to no other global buffer and accesses `buffer` only at the loops' variables.
struct StageNest {
  std::vector<loop::Stmt> loops;  // the kFor of each dimension, by dimension
  loop::Stmt body;

  Loop LoopOf(size_t axis) const { return Loop(loops[axis]->var->name); }
};
absl::StatusOr<StageNest> MatchStage(const loop::Nest& nest, size_t launch,
                                     const loop::Buffer& buffer);
// Returns the stage's loops around another body and over other extents, one for each dimension. The
// loops keep the order that they have in `launch_body`.
loop::Stmt WithExtents(const loop::Stmt& launch_body, const StageNest& stage, loop::Stmt body,
                       const std::vector<int64_t>& extents);
// Lets the stage of the buffer run over `extents`, which are at least those of the buffer's shape,
// and store zeros behind that shape. The loops keep their order; the caller sees to it that the
// buffer has the elements. kFailedPrecondition where the stage is not a single store that reads
// other buffers alone.
absl::Status ExtendStage(loop::Nest* nest, const loop::Buffer& buffer,
                         const std::vector<int64_t>& extents);
// Checks that the buffer can get the shape `shape`. kInvalidArgument where that has another rank
// than the buffer's shape, or a smaller extent; kFailedPrecondition where the buffer is no
// row-major workspace, whose shape can change.
absl::Status CheckCovers(const loop::BufferNode& buffer, const std::vector<int64_t>& shape);
// Gives the buffer another shape wherever the nest has it.
void ReplaceShape(loop::Nest* nest, const loop::Buffer& buffer, const std::vector<int64_t>& shape);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_NEST_EDIT_H_
