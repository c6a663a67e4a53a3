// What the iterations of loops may share. The answers are safe: "no" means "not known".
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_DEPENDENCE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_DEPENDENCE_H_

#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Whether different iterations of `loops` (perfectly nested, all of them together) address
// different elements. `bounds` hold the loops and those around them.
bool InjectiveIn(const std::vector<loop::Expr>& indices, const std::vector<loop::Stmt>& loops,
                 const loop::Bounds& bounds);

// Whether no iteration of `loop` touches what another one writes; buffers allocated in its body are
// its own. `bounds` hold the loops around it.
bool IterationsIndependent(const loop::Stmt& loop, const loop::Bounds& bounds);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_DEPENDENCE_H_
