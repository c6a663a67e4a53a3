// The order in which a device is told of a plan's launches.
#ifndef HONE_RUNTIME_SEQUENCE_WALK_H_
#define HONE_RUNTIME_SEQUENCE_WALK_H_

#include <cstddef>
#include <functional>

#include "runtime/launch_sequence.h"

namespace hone {

// A step that is to be launched now, and the addresses of its kernel's buffers. Where it is in a
// repeat they are those of the trip; otherwise they are those of the plan.
struct StepVisit {
  size_t step = 0;
  void* const* addresses = nullptr;
  bool is_in_repeat = false;
};

// Visits the steps in order, those of a repeat once in each trip. False, at once, if `visit`
// returns false.
bool WalkSteps(const SequencePlan& plan, const std::function<bool(const StepVisit&)>& visit);

// How many visits a walk makes.
int64_t VisitCount(const SequencePlan& plan);

}  // namespace hone

#endif  // HONE_RUNTIME_SEQUENCE_WALK_H_
