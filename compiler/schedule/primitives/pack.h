#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PACK_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PACK_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Gives the readers of `buffer` a copy of it in another layout, pad lanes zero: a constant is
// copied by a prepare launch into a prepared buffer, anything else by a run launch before its
// first reader into workspace. Returns the name of the copy, "<buffer>.packed"; in workspace its
// loops are "<buffer>.packed.i0" and so on, one an axis, those of a constant come as they are fast.
absl::StatusOr<Stage> Pack(loop::Nest* nest, const std::string& buffer, const Layout& layout);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PACK_H_
