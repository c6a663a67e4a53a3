#include "compiler/passes/memory_plan.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "compiler/passes/arena_placement.h"
#include "runtime/memory.h"

namespace hone::passes {
namespace {

// What lies in the arena.
struct Blocks {
  std::vector<ArenaBlock> blocks;
  std::vector<int> values;  // the value of each; -1: the workspace of its call
};

// For each value the one that no other holds, which it lies in. Chains of values are walked once.
std::vector<int> HoldersOf(const std::vector<PlannedValue>& values) {
  std::vector<int> holders(values.size(), -1);
  for (size_t value = 0; value < values.size(); ++value) {
    std::vector<int> chain;
    int at = static_cast<int>(value);
    while (holders[at] < 0 && values[at].within >= 0) {
      chain.push_back(at);
      at = values[at].within;
    }
    const int holder = holders[at] < 0 ? at : holders[at];
    holders[at] = holder;
    for (const int part : chain) holders[part] = holder;
  }
  return holders;
}

Blocks MakeBlocks(const std::vector<PlannedValue>& values, const std::vector<PlannedCall>& calls) {
  const std::vector<int> holders = HoldersOf(values);
  std::vector<ArenaBlock> of_value(values.size());
  std::vector<bool> used(values.size(), false);
  for (size_t call = 0; call < calls.size(); ++call) {
    const auto touch = [&](int part) {
      const int value = holders[part];
      ArenaBlock& block = of_value[value];
      if (!used[value]) block = {AlignedBytes(values[value].bytes), static_cast<int>(call), 0};
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
    result.blocks.push_back({AlignedBytes(calls[call].workspace_bytes), at, at});
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

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin, end; apart from each other
};

// What the calls since the last barrier read and write, in the arena and outside: of each external
// value apart.
class Hazards {
 public:
  Hazards(const std::vector<PlannedValue>& values, const MemoryPlan& plan)
      : values_(values), plan_(plan) {}

  // Whether `call` must wait; starts anew from it if so.
  bool Enter(const PlannedCall& call, size_t index) {
    const std::vector<Located> reads = PlacesOf(call.reads);
    std::vector<Located> writes = PlacesOf(call.writes);
    if (call.workspace_bytes > 0) writes.push_back({kArena, Workspace(call, index)});
    const bool wait =
        std::any_of(reads.begin(), reads.end(), [&](const auto& at) { return Is(written_, at); }) ||
        std::any_of(writes.begin(), writes.end(),
                    [&](const auto& at) { return Is(written_, at) || Is(read_, at); });
    if (wait) {
      written_.clear();
      read_.clear();
    }
    for (const auto& [space, range] : reads) read_[space].Add(range);
    for (const auto& [space, range] : writes) written_[space].Add(range);
    return wait;
  }

 private:
  static constexpr int kArena = -1;
  using Located = std::pair<int, Range>;  // kArena or an external value, and bytes of it
  using Ranges = std::unordered_map<int, RangeSet>;

  static bool Is(const Ranges& ranges, const Located& at) {
    const auto found = ranges.find(at.first);
    return found != ranges.end() && found->second.Overlaps(at.second);
  }

  std::vector<Located> PlacesOf(const std::vector<int>& values) const {
    std::vector<Located> places;
    for (const int value : values) {
      if (values_[value].bytes == 0) continue;
      const int holder = PlaceOf(values_, value).value;
      const uint64_t offset = plan_.value_offsets[value];
      places.push_back(
          {values_[holder].external ? holder : kArena, {offset, offset + values_[value].bytes}});
    }
    return places;
  }

  Range Workspace(const PlannedCall& call, size_t index) const {
    const uint64_t offset = plan_.workspace_offsets[index];
    return {offset, offset + call.workspace_bytes};
  }

  const std::vector<PlannedValue>& values_;
  const MemoryPlan& plan_;
  Ranges written_;
  Ranges read_;
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
  for (size_t value = 0; value < values.size(); ++value) {
    const auto [holder, offset_bytes] = PlaceOf(values, static_cast<int>(value));
    if (values[value].within < 0) continue;
    plan.value_offsets[value] = plan.value_offsets[holder] + offset_bytes;
  }
  Hazards hazards(values, plan);
  for (size_t i = 0; i < calls.size(); ++i) {
    plan.barrier_before.push_back(hazards.Enter(calls[i], i));
  }
  return plan;
}

uint64_t PeakLiveBytes(const std::vector<PlannedValue>& values,
                       const std::vector<PlannedCall>& calls) {
  return PeakLive(MakeBlocks(values, calls).blocks);
}

}  // namespace hone::passes
