// Decides which vectorised loops can be emitted as vectors.
#ifndef HONE_COMPILER_LOWER_LANES_H_
#define HONE_COMPILER_LOWER_LANES_H_

#include "compiler/loop/stmt.h"

namespace hone::lower {

// Turns a vectorised loop into a serial one if its lanes cannot run together: because an inner loop
// runs differently from lane to lane, because it contains another vectorised loop, or because all
// lanes store to the same place.
loop::Stmt SerialiseLanesApart(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LANES_H_
