// Decides which dot loops become instructions for dot products.
#ifndef HONE_COMPILER_LOWER_DOTS_H_
#define HONE_COMPILER_LOWER_DOTS_H_

#include <functional>

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// Dot loops of a launch, by their statements.
using DotPlan = absl::flat_hash_set<const loop::StmtNode*>;

// The dot loops of `body` that one instruction for dot products can do for all lanes of the
// vectorised loop around them, if there is one. The factors of the steps are neighbours in memory,
// which are the same for all lanes or follow each other from lane to lane, or they are the bytes of
// one int32; and no lane is left out. Back-ends emit the others like unrolled loops.
// Dot loops inside of statements that `is_whole` picks, which have instructions of their own, are
// left out. `outside` are the bounds of the variables around `body`.
DotPlan PlanDots(const loop::Stmt& body, const loop::Bounds& outside,
                 const std::function<bool(const loop::Stmt&)>& is_whole);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_DOTS_H_
