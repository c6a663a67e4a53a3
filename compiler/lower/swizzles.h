// Tells which accesses leave a buffer free to be swizzled.
#ifndef HONE_COMPILER_LOWER_SWIZZLES_H_
#define HONE_COMPILER_LOWER_SWIZZLES_H_

#include <functional>

#include "compiler/loop/bounds.h"
#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// A swizzled buffer of 16-bit elements keeps eight of them, which begin at a multiple of eight,
// side by side, and moves such chunks about. Its readers by descriptor know that; all other
// accesses must be of single elements or of neighbours within a chunk. Returns the buffers of
// `body` with other accesses. Statements that `is_by_descriptor` picks are left out, and those
// that `is_of_warps` picks, which load fragments by instructions of their own, count as others.
// `outside` are the bounds of the variables around `body`.
loop::BufferSet BuffersAccessedAcrossChunks(
    const loop::Stmt& body, const loop::Bounds& outside,
    const std::function<bool(const loop::Stmt&)>& is_by_descriptor,
    const std::function<bool(const loop::Stmt&)>& is_of_warps);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_SWIZZLES_H_
