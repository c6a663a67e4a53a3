// Schedules stages one by one, each in its own launch: the generic template does this with all
// stages, and other templates with those that they have no schedule of their own for.
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
  // Whether square tiles are transposed in registers where a stage reads along another axis than it
  // writes.
  bool turn = false;
  // How many such tiles that lie side by side where they are read are done one after the other.
  int64_t strip = 1;
};

// Whether `turn` would make a difference to a stage that writes one of the kernel's outputs.
bool HasStageToTurn(const loop::Nest& nest);
// How many elements such a stage reads in order, if it writes only two or three elements side by
// side; `turn` then makes lanes of the elements that are read in order. 0: no stage is like that.
int64_t ElementsAcrossFew(const loop::Nest& nest);

// Inlines stages whose value costs little to compute again, or that are read once, except for those
// that fill the buffers `kept`.
void InlineCheapStages(Sequence* s, const std::set<std::string>& kept = {});
// Joins the last axes of every buffer that loops always go through together (JoinLastAxes), as many
// as possible.
void JoinAxes(Sequence* s);
// Schedules the stage of every workspace and output. Steps that do not fit a stage are left out, so
// this cannot fail.
void ScheduleStages(Sequence* s, const StageOptions& options);
void ScheduleStage(Sequence* s, const Stage& stage, const StageOptions& options);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_STAGE_SCHEDULE_H_
