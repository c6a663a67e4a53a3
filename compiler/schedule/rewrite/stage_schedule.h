// Schedules stages one by one, each in its own launch: what the generic template does with all,
// and the others with what they leave over.
#ifndef HONE_COMPILER_SCHEDULE_REWRITE_STAGE_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_STAGE_SCHEDULE_H_

#include <cstdint>
#include <set>
#include <string>

#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

struct StageOptions {
  int64_t lanes = 1;
  int64_t unroll = 1;             // vectors at once
  int64_t grid = 1;               // parallel loops, at most
  bool vector_reduction = false;  // lanes are elements of the result; else sums are scalar
  // Where what is read lies across what is written, square tiles are turned in registers.
  bool turn = false;
  int64_t strip = 1;  // of such tiles, those that are read side by side, one after the other
};

// Whether `turn` would make a difference to a stage that writes one of the kernel's outputs.
bool HasStageToTurn(const loop::Nest& nest);
// Elements that such a stage reads in order, where it writes but two or three side by side: they
// are the lanes then. 0: there is none.
int64_t ElementsAcrossFew(const loop::Nest& nest);

// Inlines stages whose value costs little to compute again, or that are read once, but for those of
// the buffers `kept`.
void InlineCheapStages(Sequence* s, const std::set<std::string>& kept = {});
// Last axes that are gone through together become one, of every buffer, as far as that goes.
void JoinAxes(Sequence* s);
// Every run launch. Steps that do not fit a stage are left out, so this cannot fail.
void ScheduleStages(Sequence* s, const StageOptions& options);
void ScheduleStage(Sequence* s, const Stage& stage, const StageOptions& options);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_STAGE_SCHEDULE_H_
