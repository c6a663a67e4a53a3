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
};

// Where a value lies: in itself at 0, or in the one that no other holds.
struct Place {
  int value = 0;
  uint64_t offset_bytes = 0;
};
// Of PlannedValues, or of others that say `within` and `offset_bytes`.
template <typename Value>
Place PlaceOf(const std::vector<Value>& values, int value) {
  Place place = {value, 0};
  while (values[place.value].within >= 0) {
    place.offset_bytes += values[place.value].offset_bytes;
    place.value = values[place.value].within;
  }
  return place;
}

struct PlannedCall {
  std::vector<int> reads;  // values
  std::vector<int> writes;
  uint64_t workspace_bytes = 0;
};

struct MemoryPlan {
  uint64_t arena_bytes = 0;
  // Of external and unused values 0, in one of these their place in it.
  std::vector<uint64_t> value_offsets;
  std::vector<uint64_t> workspace_offsets;  // one a call
  // The call reads what a call since the last barrier wrote, or overwrites what one reads or
  // writes.
  std::vector<bool> barrier_before;
  uint64_t peak_live_bytes = 0;  // what no plan can be below
};

// Calls run in the order given; a value is written by one call, before any reads it, and lives from
// its writing call to its last reader. Parts of a value are written by different calls, and it
// lives from the first of them to the last reader of any. Offsets are multiples of
// HONE_BUFFER_ALIGNMENT.
MemoryPlan PlanMemory(const std::vector<PlannedValue>& values,
                      const std::vector<PlannedCall>& calls);

// MemoryPlan::peak_live_bytes alone, in far less time.
uint64_t PeakLiveBytes(const std::vector<PlannedValue>& values,
                       const std::vector<PlannedCall>& calls);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_MEMORY_PLAN_H_
