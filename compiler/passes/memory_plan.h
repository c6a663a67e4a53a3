// Where the values and workspaces of a model's calls lie in one arena, and which calls must wait.
#ifndef HONE_COMPILER_PASSES_MEMORY_PLAN_H_
#define HONE_COMPILER_PASSES_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

namespace hone::passes {

// Sizes in bytes, pad lanes included.
struct PlannedValue {
  uint64_t bytes = 0;
  bool external = false;  // an input, output or parameter: not in the arena
  // It is a part of another value's memory, whatever `external` says; -1: not.
  int within = -1;
  uint64_t offset_bytes = 0;
  // In a repeat: how it moves within that memory from trip to trip; there and back if it
  // alternates.
  int64_t stride_bytes = 0;
  bool alternates = false;
  // In a repeat: from trip 1 on it lies where this value did in the trip before; -1: none.
  int follows = -1;
};

// Where a value lies: in itself at 0, or in the one that no other holds.
struct Place {
  int value = 0;
  uint64_t offset_bytes = 0;
};
// In a trip of its repeat. Of PlannedValues, or of others that say as much.
template <typename Value>
Place PlaceInTrip(const std::vector<Value>& values, int value, int64_t trip) {
  Place place = {value, 0};
  while (true) {
    const Value& at = values[place.value];
    if (trip > 0 && at.follows >= 0) {
      place.value = at.follows;
      --trip;
      continue;
    }
    if (at.within < 0) return place;
    const int64_t moved = at.stride_bytes * (at.alternates ? trip % 2 : trip);
    place.offset_bytes += at.offset_bytes + static_cast<uint64_t>(moved);
    place.value = at.within;
  }
}
// Outside of repeats, or in their first trip.
template <typename Value>
Place PlaceOf(const std::vector<Value>& values, int value) {
  return PlaceInTrip(values, value, 0);
}

struct PlannedCall {
  std::vector<int> reads;  // values
  std::vector<int> writes;
  uint64_t workspace_bytes = 0;
  int repeat = -1;  // which it is made in; the calls of one stand together
};

struct MemoryPlan {
  uint64_t arena_bytes = 0;
  // Where each value lies in the arena. 0 for external and unused ones; a value in an external one
  // has its place in that.
  std::vector<uint64_t> value_offsets;
  std::vector<uint64_t> workspace_offsets;  // one a call
  // The call reads what a call since the last barrier wrote, or overwrites what one reads or
  // writes.
  std::vector<bool> barrier_before;
  uint64_t peak_live_bytes = 0;  // what no plan can be below
};

// Calls run in the order given; a value is written by one call, before any reads it, and lives from
// its writing call to its last reader. Parts of a value are written by different calls, and it
// lives from the first of them to the last reader of any. What the calls of a repeat share with
// others, or a trip with the next, lives throughout. Offsets are multiples of
// HONE_BUFFER_ALIGNMENT.
MemoryPlan PlanMemory(const std::vector<PlannedValue>& values,
                      const std::vector<PlannedCall>& calls);

// MemoryPlan::peak_live_bytes alone, in far less time.
uint64_t PeakLiveBytes(const std::vector<PlannedValue>& values,
                       const std::vector<PlannedCall>& calls);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_MEMORY_PLAN_H_
