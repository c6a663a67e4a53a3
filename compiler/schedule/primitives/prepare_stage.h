#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PREPARE_STAGE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PREPARE_STAGE_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Moves the stage that fills workspace `buffer` from constants alone to the prepare phase, where it
// runs once; the buffer becomes a prepared one. kFailedPrecondition where the stage reads anything
// that changes from run to run, or is not the buffer's only writer.
absl::Status PrepareStage(loop::Nest* nest, const Stage& stage);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PREPARE_STAGE_H_
