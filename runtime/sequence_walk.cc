#include "runtime/sequence_walk.h"

#include <vector>

namespace hone {
namespace {

using Visitor = std::function<bool(const StepVisit&)>;

bool WalkRepeat(const SequencePlan& plan, const SequenceRepeat& repeat, const Visitor& visit) {
  std::vector<void*> addresses(plan.addresses + repeat.first_buffer,
                               plan.addresses + repeat.end_buffer);
  for (int64_t trip = 0; trip < repeat.trips; ++trip) {
    for (const SequenceMove& move : repeat.moves) {
      addresses[move.buffer - repeat.first_buffer] =
          AddressInTrip(move, plan.addresses[move.buffer], trip);
    }
    for (size_t s = repeat.first_step; s < repeat.end_step; ++s) {
      const size_t first = plan.steps[s].first_buffer - repeat.first_buffer;
      if (!visit({s, addresses.data() + first, /*is_in_repeat=*/true})) return false;
    }
  }
  return true;
}

}  // namespace

bool WalkSteps(const SequencePlan& plan, const Visitor& visit) {
  size_t s = 0;
  const auto walk_to = [&](size_t end) {
    for (; s < end; ++s) {
      if (!visit({s, plan.addresses + plan.steps[s].first_buffer, /*is_in_repeat=*/false})) {
        return false;
      }
    }
    return true;
  };
  for (const SequenceRepeat& repeat : plan.repeats) {
    if (!walk_to(repeat.first_step) || !WalkRepeat(plan, repeat, visit)) return false;
    s = repeat.end_step;
  }
  return walk_to(plan.steps.size());
}

int64_t VisitCount(const SequencePlan& plan) {
  auto count = static_cast<int64_t>(plan.steps.size());
  for (const SequenceRepeat& repeat : plan.repeats) {
    count += static_cast<int64_t>(repeat.end_step - repeat.first_step) * (repeat.trips - 1);
  }
  return count;
}

}  // namespace hone
