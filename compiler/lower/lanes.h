// Decides which vectorised loops can be emitted as vectors.
#ifndef HONE_COMPILER_LOWER_LANES_H_
#define HONE_COMPILER_LOWER_LANES_H_

#include "compiler/loop/stmt.h"

namespace hone::lower {

// Turns each vectorised loop whose lanes cannot run in lockstep into a serial loop. These are loops
// that contain another vectorised loop, those that contain a loop whose bounds or condition may
// differ between lanes, and those in which all lanes store to the same element. Loops of one lane,
// of more than 256 or of a number that is not constant become serial too, even where unrolling the
// loops around them would make it constant.
loop::Stmt SerialiseLanesApart(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LANES_H_
