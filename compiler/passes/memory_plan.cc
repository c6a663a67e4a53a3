#include "compiler/passes/memory_plan.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "compiler/passes/arena_placement.h"
#include "compiler/passes/call_dependencies.h"
#include "runtime/memory.h"

namespace hone::passes {
namespace {

// More calls than this have too many pairs to tell for each whether they depend on each other.
constexpr size_t kMostOrderedCalls = 1 << 13;
// Branches side by side are worth no more than this times the memory of a plan in turn: a model of
// many wide branches might not fit its device.
constexpr uint64_t kMostGrowth = 2;

// The calls that use a block.
struct BlockUse {
  std::vector<int> all;
  std::vector<int> writers;
};

// What lies in the arena.
struct Blocks {
  std::vector<ArenaBlock> blocks;
  std::vector<int> values;  // the value of each; -1: the workspace of its call
  std::vector<BlockUse> uses;
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

bool Moves(const PlannedValue& value) { return value.stride_bytes != 0 || value.alternates; }

// Calls visit(v) for the value, and for those where it lies in trips after the first.
template <typename Visit>
void VisitEverywhere(const std::vector<PlannedValue>& values, int value, const Visit& visit) {
  visit(value);
  for (int at = value; at >= 0; at = values[at].within) {
    if (values[at].follows >= 0) visit(values[at].follows);
  }
}

// The first and last call of the repeat that each call is in; itself for those that are in none.
std::vector<std::pair<int, int>> RangesOf(const std::vector<PlannedCall>& calls) {
  std::vector<std::pair<int, int>> ranges;
  const auto continues = [&](size_t call) {
    return call > 0 && call < calls.size() && calls[call].repeat >= 0 &&
           calls[call].repeat == calls[call - 1].repeat;
  };
  for (size_t call = 0; call < calls.size(); ++call) {
    const int at = static_cast<int>(call);
    ranges.emplace_back(continues(call) ? ranges.back().first : at, at);
  }
  for (size_t call = calls.size(); call-- > 1;) {
    if (continues(call)) ranges[call - 1].second = ranges[call].second;
  }
  return ranges;
}

// When the values live that no other holds.
class Lives {
 public:
  Lives(const std::vector<PlannedValue>& values, const std::vector<PlannedCall>& calls)
      : values_(values), holders_(HoldersOf(values)), ranges_(RangesOf(calls)) {
    lives_.resize(values.size());
    for (size_t call = 0; call < calls.size(); ++call) {
      for (const int value : calls[call].writes) Touch(value, calls[call], call, /*writes=*/true);
      for (const int value : calls[call].reads) Touch(value, calls[call], call, /*writes=*/false);
    }
    // A trip finds there what another one left.
    for (size_t value = 0; value < values.size(); ++value) {
      if (Moves(values[value])) lives_[holders_[value]].outlives_trips = true;
    }
  }

  bool IsUsed(size_t value) const { return lives_[value].is_used; }
  int First(size_t value) const {
    const Life& life = lives_[value];
    return life.outlives_trips ? life.all.first : life.own.first;
  }
  int Last(size_t value) const {
    const Life& life = lives_[value];
    return life.outlives_trips ? life.all.second : life.own.second;
  }
  // With the first and the last call of its life.
  BlockUse Use(size_t value) const {
    BlockUse use = lives_[value].use;
    use.all.push_back(Last(value));
    use.writers.push_back(First(value));
    return use;
  }

 private:
  struct Life {
    std::pair<int, int> own;  // the first and last call that touches it
    std::pair<int, int> all;  // the same with all calls of their repeats
    int repeat = -1;          // that of these calls
    bool is_used = false;
    bool outlives_trips = false;
    BlockUse use;
  };

  void Touch(int value, const PlannedCall& call, size_t index, bool writes) {
    const int at = static_cast<int>(index);
    VisitEverywhere(values_, value, [&](int part) {
      Life& life = lives_[holders_[part]];
      if (!life.is_used) life = {{at, at}, ranges_[index], call.repeat, true, false, {}};
      life.own.second = at;
      life.all.second = std::max(life.all.second, ranges_[index].second);
      if (life.repeat != call.repeat) life.outlives_trips = true;
      life.use.all.push_back(at);
      if (writes) life.use.writers.push_back(at);
    });
  }

  const std::vector<PlannedValue>& values_;
  const std::vector<int> holders_;
  const std::vector<std::pair<int, int>> ranges_;
  std::vector<Life> lives_;
};

Blocks MakeBlocks(const std::vector<PlannedValue>& values, const std::vector<PlannedCall>& calls) {
  const Lives lives(values, calls);
  Blocks result;
  for (size_t value = 0; value < values.size(); ++value) {
    if (!lives.IsUsed(value) || values[value].external || values[value].bytes == 0) continue;
    result.blocks.push_back(
        {AlignedBytes(values[value].bytes), lives.First(value), lives.Last(value)});
    result.values.push_back(static_cast<int>(value));
    result.uses.push_back(lives.Use(value));
  }
  for (size_t call = 0; call < calls.size(); ++call) {
    const int at = static_cast<int>(call);
    if (calls[call].workspace_bytes == 0) continue;
    result.blocks.push_back({AlignedBytes(calls[call].workspace_bytes), at, at});
    result.values.push_back(-1);
    result.uses.push_back({{at}, {at}});
  }
  return result;
}

// Bytes of the arena.
class RangeSet {
 public:
  bool Overlaps(const ByteRange& range) const {
    const auto next = ranges_.lower_bound(range.end);
    return next != ranges_.begin() && std::prev(next)->second > range.begin;
  }
  void Add(ByteRange range) {
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
  using Located = std::pair<int, ByteRange>;  // kArena or an external value, and bytes of it
  using Ranges = std::unordered_map<int, RangeSet>;

  static bool Is(const Ranges& ranges, const Located& at) {
    const auto found = ranges.find(at.first);
    return found != ranges.end() && found->second.Overlaps(at.second);
  }

  std::vector<Located> PlacesOf(const std::vector<int>& values) const {
    std::vector<Located> places;
    for (const int value : values) {
      VisitEverywhere(values_, value, [&](int part) {
        if (values_[part].bytes > 0) places.push_back(PlaceInAnyTrip(part));
      });
    }
    return places;
  }

  // What moves may be anywhere in what holds it.
  Located PlaceInAnyTrip(int value) const {
    ByteRange range = {0, values_[value].bytes};
    int at = value;
    for (; values_[at].within >= 0; at = values_[at].within) {
      if (Moves(values_[at])) {
        range = {0, values_[values_[at].within].bytes};
      } else {
        range.begin += values_[at].offset_bytes;
        range.end += values_[at].offset_bytes;
      }
    }
    const uint64_t offset = plan_.value_offsets[at];
    return {values_[at].external ? at : kArena, {offset + range.begin, offset + range.end}};
  }

  ByteRange Workspace(const PlannedCall& call, size_t index) const {
    const uint64_t offset = plan_.workspace_offsets[index];
    return {offset, offset + call.workspace_bytes};
  }

  const std::vector<PlannedValue>& values_;
  const MemoryPlan& plan_;
  Ranges written_;
  Ranges read_;
};

// A second trip of a repeat finds what the first left; from then on all trips are alike.
std::vector<bool> BarriersOf(const std::vector<PlannedValue>& values,
                             const std::vector<PlannedCall>& calls, const MemoryPlan& plan) {
  std::vector<bool> barriers;
  Hazards hazards(values, plan);
  size_t first = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i == 0 || calls[i].repeat != calls[i - 1].repeat) first = i;
    barriers.push_back(hazards.Enter(calls[i], i));
    const bool ends = i + 1 == calls.size() || calls[i + 1].repeat != calls[i].repeat;
    if (calls[i].repeat < 0 || !ends) continue;
    for (size_t again = first; again <= i; ++again) {
      if (hazards.Enter(calls[again], again)) barriers[again] = true;
    }
  }
  return barriers;
}

// A block may have an earlier one's memory if all that write it depend on all that use that one.
ArenaPlacement PlaceApart(const std::vector<PlannedValue>& values,
                          const std::vector<PlannedCall>& calls, const Blocks& made,
                          uint64_t peak) {
  const CallDependencies dependencies(values, calls);
  std::vector<CallSet> after;  // for each block the calls that depend on all that use it
  after.reserve(made.uses.size());
  for (const BlockUse& use : made.uses) after.push_back(dependencies.AfterAll(use.all));
  return PlaceBlocks(made.blocks, peak, [&](size_t block, size_t earlier) {
    return std::ranges::all_of(made.uses[block].writers,
                               [&](int call) { return after[earlier].Has(call); });
  });
}

ArenaPlacement PlaceByDependency(const std::vector<PlannedValue>& values,
                                 const std::vector<PlannedCall>& calls, const Blocks& made,
                                 uint64_t peak) {
  ArenaPlacement in_turn = PlaceBlocks(made.blocks, peak);
  if (calls.size() > kMostOrderedCalls) return in_turn;
  ArenaPlacement apart = PlaceApart(values, calls, made, peak);
  return apart.arena_bytes <= kMostGrowth * in_turn.arena_bytes ? apart : in_turn;
}

}  // namespace

MemoryPlan PlanMemory(const std::vector<PlannedValue>& values,
                      const std::vector<PlannedCall>& calls, CallOrder order) {
  const Blocks made = MakeBlocks(values, calls);
  MemoryPlan plan;
  plan.peak_live_bytes = PeakLive(made.blocks);
  const ArenaPlacement placement =
      order == CallOrder::kInTurn ? PlaceBlocks(made.blocks, plan.peak_live_bytes)
                                  : PlaceByDependency(values, calls, made, plan.peak_live_bytes);
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
  plan.barrier_before = BarriersOf(values, calls, plan);
  return plan;
}

uint64_t PeakLiveBytes(const std::vector<PlannedValue>& values,
                       const std::vector<PlannedCall>& calls) {
  return PeakLive(MakeBlocks(values, calls).blocks);
}

}  // namespace hone::passes
