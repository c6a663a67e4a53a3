// Walks the launches of a plan in the order in which a device must run them.
#ifndef HONE_RUNTIME_SEQUENCE_WALK_H_
#define HONE_RUNTIME_SEQUENCE_WALK_H_

#include <cstddef>
#include <functional>

#include "runtime/launch_sequence.h"

namespace hone {

// A step to launch now, and the addresses of its kernel's buffers: in a repeat those of the current
// trip, otherwise those of the plan. `addresses` is valid during the visit only.
struct StepVisit {
  size_t step = 0;
  void* const* addresses = nullptr;
  bool is_in_repeat = false;
};

// Visits the steps in order, those of a repeat once in each trip. Stops and returns false as soon
// as `visit` returns false.
bool WalkSteps(const SequencePlan& plan, const std::function<bool(const StepVisit&)>& visit);

// How many visits a walk makes.
int64_t VisitCount(const SequencePlan& plan);

}  // namespace hone

#endif  // HONE_RUNTIME_SEQUENCE_WALK_H_
