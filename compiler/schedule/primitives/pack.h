#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PACK_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PACK_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Gives the readers of `buffer` a copy of it in another layout, pad lanes zero: a prepare launch
// copies a constant into a prepared buffer, and a run launch before the first reader copies
// anything else into workspace. Returns the stage of the copy, "<buffer>.packed". The loops of a
// copy in workspace are "<buffer>.packed.i0" and so on, one for each axis, for the caller to
// schedule; the copy of a constant is scheduled already.
absl::StatusOr<Stage> Pack(loop::Nest* nest, const std::string& buffer, const Layout& layout);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PACK_H_
