// Plans where the values and workspaces of a model's calls lie in one arena, and which calls must
// wait for others.
#ifndef HONE_COMPILER_PASSES_MEMORY_PLAN_H_
#define HONE_COMPILER_PASSES_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

namespace hone::passes {

// A value to be placed. Sizes are in bytes and include pad lanes.
struct PlannedValue {
  uint64_t bytes = 0;
  bool external = false;  // an input, output or parameter, which is not in the arena
  // The value whose memory this one is a part of, at `offset_bytes`; `external` then has no
  // meaning. -1 if none.
  int within = -1;
  uint64_t offset_bytes = 0;
  // In a repeat: how many bytes it moves within that memory from one trip to the next. If
  // `alternates`, it moves by that much and back again in turn.
  int64_t stride_bytes = 0;
  bool alternates = false;
  // In a repeat: from trip 1 on, this value lies where the value `follows` lay in the trip before.
  // -1 if there is none.
  int follows = -1;
};

// Where a value lies: in the outermost value that holds it, which may be itself, at an offset.
struct Place {
  int value = 0;
  uint64_t offset_bytes = 0;
};
// Where a value lies in a trip of its repeat. `Value` is PlannedValue, or a type with the same
// members.
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
// The same for a value outside repeats, or in their first trip.
template <typename Value>
Place PlaceOf(const std::vector<Value>& values, int value) {
  return PlaceInTrip(values, value, 0);
}

struct PlannedCall {
  std::vector<int> reads;  // values
  std::vector<int> writes;
  uint64_t workspace_bytes = 0;
  int repeat = -1;  // the repeat it is in, or -1; the calls of a repeat are consecutive
};

// How a device runs the calls.
enum class CallOrder {
  kInTurn,        // in the order given
  kByDependency,  // a call may start as soon as those that it depends on have ended
};

struct MemoryPlan {
  uint64_t arena_bytes = 0;
  // The offset of each value in the arena; 0 for external and unused values. For a value within an
  // external one, the offset in that.
  std::vector<uint64_t> value_offsets;
  std::vector<uint64_t> workspace_offsets;  // one a call
  // Whether the call reads what a call since the last barrier wrote, or overwrites what such a call
  // reads or writes.
  std::vector<bool> barrier_before;
  uint64_t peak_live_bytes = 0;  // a lower bound for every plan
};

// Calls run in the order given; a value is written by one call, before any reads it, and lives from
// its writing call to its last reader. Parts of a value are written by different calls, and it
// lives from the first of them to the last reader of any. Values that a repeat's calls share with
// calls outside it, or that go from one trip to the next, live for the whole repeat. Offsets are
// multiples of HONE_BUFFER_ALIGNMENT.
//
// With kByDependency, memory is used again only by calls that depend, directly or not, on all calls
// that used it before. So calls need not wait for others just because they share memory. Functions
// of very many calls, and those that would take more than twice the memory, are planned as with
// kInTurn.
MemoryPlan PlanMemory(const std::vector<PlannedValue>& values,
                      const std::vector<PlannedCall>& calls, CallOrder order = CallOrder::kInTurn);

// MemoryPlan::peak_live_bytes alone, in far less time.
uint64_t PeakLiveBytes(const std::vector<PlannedValue>& values,
                       const std::vector<PlannedCall>& calls);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_MEMORY_PLAN_H_
