// Limits how much code the unrolled loops of a launch become.
#ifndef HONE_COMPILER_LOWER_UNROLLING_H_
#define HONE_COMPILER_LOWER_UNROLLING_H_

#include "compiler/loop/stmt.h"

namespace hone::lower {

// Turns an unrolled loop into a serial one if more than 65536 iterations would then be written out
// for the launch, or if its extent has no bound. Dot loops count as unrolled ones, since back-ends
// emit those that no instruction computes like these. Loops take their part of the limit in the
// order of the text, inner ones before those around them: of two that are too long together, the
// inner one stays unrolled.
loop::Stmt LimitUnrolling(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_UNROLLING_H_
