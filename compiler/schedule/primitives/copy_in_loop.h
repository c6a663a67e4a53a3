// A copy that each iteration of a loop makes for itself: what LoadAhead and PipelineCopies move.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_COPY_IN_LOOP_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_COPY_IN_LOOP_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// A serial loop of constant bounds.
struct ConstantLoop {
  Site site;
  int64_t min = 0;
  int64_t extent = 0;

  const loop::Stmt& stmt() const { return site.stmt; }
};
// kFailedPrecondition where the loop is of another kind, or has other bounds.
absl::StatusOr<ConstantLoop> FindConstantLoop(const loop::Nest& nest, const Loop& loop);

// What an iteration does with the copy: alloc { copy; rest }, where `rest` does not store to the
// buffer.
struct CopyInLoop {
  loop::Stmt alloc;
  loop::Stmt copy;
  loop::Stmt rest;
};
// kFailedPrecondition unless the body of the loop allocates the buffer of `copied` outside of other
// loops and conditions, the allocation begins with the one statement that fills it, which stores to
// nothing else and does not read it, and the loop does not store to what that statement reads.
absl::StatusOr<CopyInLoop> FindCopyInLoop(const loop::Stmt& loop, const Stage& copied);

// The same loops and conditions; each store is what `stored` makes of it.
loop::Stmt WithStores(const loop::Stmt& s,
                      const std::function<loop::Stmt(const loop::StmtNode&)>& stored);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_COPY_IN_LOOP_H_
