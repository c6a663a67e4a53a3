#include "compiler/passes/memory_plan.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "compiler/passes/arena_placement.h"
#include "runtime/module_abi.h"

namespace hone::passes {
namespace {

uint64_t Aligned(uint64_t bytes) {
  return (bytes + HONE_BUFFER_ALIGNMENT - 1) / HONE_BUFFER_ALIGNMENT * HONE_BUFFER_ALIGNMENT;
}

// What lies in the arena.
struct Blocks {
  std::vector<ArenaBlock> blocks;
  std::vector<int> values;  // the value of each; -1: the workspace of its call
};

Blocks MakeBlocks(const std::vector<PlannedValue>& values, const std::vector<PlannedCall>& calls) {
  std::vector<ArenaBlock> of_value(values.size());
  std::vector<bool> used(values.size(), false);
  for (size_t call = 0; call < calls.size(); ++call) {
    const auto touch = [&](int value) {
      ArenaBlock& block = of_value[value];
      if (!used[value]) block = {Aligned(values[value].bytes), static_cast<int>(call), 0};
      used[value] = true;
      block.last = static_cast<int>(call);
    };
    for (int value : calls[call].writes) touch(value);
    for (int value : calls[call].reads) touch(value);
  }
  Blocks result;
  for (size_t value = 0; value < values.size(); ++value) {
    if (!used[value] || values[value].external || values[value].bytes == 0) continue;
    result.blocks.push_back(of_value[value]);
    result.values.push_back(static_cast<int>(value));
  }
  for (size_t call = 0; call < calls.size(); ++call) {
    const int at = static_cast<int>(call);
    if (calls[call].workspace_bytes == 0) continue;
    result.blocks.push_back({Aligned(calls[call].workspace_bytes), at, at});
    result.values.push_back(-1);
  }
  return result;
}

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Bytes of the arena.
class RangeSet {
 public:
  bool Overlaps(const Range& range) const {
    const auto next = ranges_.lower_bound(range.end);
    return next != ranges_.begin() && std::prev(next)->second > range.begin;
  }
  void Add(Range range) {
    auto next = ranges_.upper_bound(range.begin);
    if (next != ranges_.begin() && std::prev(next)->second >= range.begin) --next;
    while (next != ranges_.end() && next->first <= range.end) {
      range.begin = std::min(range.begin, next->first);
      range.end = std::max(range.end, next->second);
      next = ranges_.erase(next);
    }
    ranges_[range.begin] = range.end;
  }
  void Clear() { ranges_.clear(); }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin, end; apart from each other
};

// What the calls since the last barrier read and write, in the arena and outside.
class Hazards {
 public:
  Hazards(const std::vector<PlannedValue>& values, const MemoryPlan& plan)
      : values_(values), plan_(plan) {}

  // Whether `call` must wait; starts anew from it if so.
  bool Enter(const PlannedCall& call, size_t index) {
    const std::vector<Range> reads = RangesOf(call.reads);
    std::vector<Range> writes = RangesOf(call.writes);
    if (call.workspace_bytes > 0) writes.push_back(Workspace(call, index));
    const bool wait = Conflicts(call, writes);
    if (wait) {
      written_.clear();
      read_ranges_.Clear();
      write_ranges_.Clear();
    }
    for (const Range& range : reads) read_ranges_.Add(range);
    for (const Range& range : writes) write_ranges_.Add(range);
    written_.insert(call.writes.begin(), call.writes.end());
    return wait;
  }

 private:
  bool Conflicts(const PlannedCall& call, const std::vector<Range>& writes) const {
    const auto is_written = [&](int value) { return written_.contains(value); };
    return std::any_of(call.reads.begin(), call.reads.end(), is_written) ||
           std::any_of(call.writes.begin(), call.writes.end(), is_written) ||
           std::any_of(writes.begin(), writes.end(), [&](const Range& range) {
             return read_ranges_.Overlaps(range) || write_ranges_.Overlaps(range);
           });
  }

  std::vector<Range> RangesOf(const std::vector<int>& values) const {
    std::vector<Range> ranges;
    for (int value : values) {
      if (values_[value].external || values_[value].bytes == 0) continue;
      const uint64_t offset = plan_.value_offsets[value];
      ranges.push_back({offset, offset + values_[value].bytes});
    }
    return ranges;
  }

  Range Workspace(const PlannedCall& call, size_t index) const {
    const uint64_t offset = plan_.workspace_offsets[index];
    return {offset, offset + call.workspace_bytes};
  }

  const std::vector<PlannedValue>& values_;
  const MemoryPlan& plan_;
  std::unordered_set<int> written_;
  RangeSet read_ranges_;
  RangeSet write_ranges_;
};

}  // namespace

MemoryPlan PlanMemory(const std::vector<PlannedValue>& values,
                      const std::vector<PlannedCall>& calls) {
  const Blocks made = MakeBlocks(values, calls);
  MemoryPlan plan;
  plan.peak_live_bytes = PeakLive(made.blocks);
  const ArenaPlacement placement = PlaceBlocks(made.blocks, plan.peak_live_bytes);
  plan.arena_bytes = placement.arena_bytes;
  plan.value_offsets.assign(values.size(), 0);
  plan.workspace_offsets.assign(calls.size(), 0);
  for (size_t i = 0; i < made.blocks.size(); ++i) {
    if (made.values[i] >= 0) {
      plan.value_offsets[made.values[i]] = placement.offsets[i];
    } else {
      plan.workspace_offsets[made.blocks[i].first] = placement.offsets[i];
    }
  }
  Hazards hazards(values, plan);
  for (size_t i = 0; i < calls.size(); ++i) {
    plan.barrier_before.push_back(hazards.Enter(calls[i], i));
  }
  return plan;
}

}  // namespace hone::passes
