// Tells which accesses leave a buffer free to be swizzled.
#ifndef HONE_COMPILER_LOWER_SWIZZLES_H_
#define HONE_COMPILER_LOWER_SWIZZLES_H_

#include <functional>

#include "compiler/loop/bounds.h"
#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// A swizzled buffer of 16-bit elements keeps eight of them, which begin at a multiple of eight,
// side by side, and moves such chunks about. An access fits it if it is of a single element, or
// of 2, 4 or 8 neighbours that begin at a multiple of their number. Returns the buffers of `body`
// that have an access that does not fit. Accesses of the statements that `is_by_descriptor` picks
// always fit, since the hardware knows the swizzle; those of the statements that `is_of_warps`
// picks, which load fragments by instructions of their own, never do. `outside` are the bounds of
// the variables around `body`.
loop::BufferSet BuffersAccessedAcrossChunks(
    const loop::Stmt& body, const loop::Bounds& outside,
    const std::function<bool(const loop::Stmt&)>& is_by_descriptor,
    const std::function<bool(const loop::Stmt&)>& is_of_warps);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_SWIZZLES_H_
