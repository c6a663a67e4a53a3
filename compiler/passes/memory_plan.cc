#include "compiler/passes/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "runtime/module_abi.h"
#include "support/random.h"

namespace hone::passes {
namespace {

// A piece of the arena for the calls first..last.
struct Block {
  uint64_t bytes = 0;
  int first = 0;
  int last = 0;
  int value = -1;  // or the workspace of call `first`
};

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

uint64_t Aligned(uint64_t bytes) {
  return (bytes + HONE_BUFFER_ALIGNMENT - 1) / HONE_BUFFER_ALIGNMENT * HONE_BUFFER_ALIGNMENT;
}

std::vector<Block> MakeBlocks(const std::vector<PlannedValue>& values,
                              const std::vector<PlannedCall>& calls) {
  std::vector<Block> of_value(values.size());
  std::vector<bool> used(values.size(), false);
  for (size_t call = 0; call < calls.size(); ++call) {
    const auto touch = [&](int value) {
      Block& block = of_value[value];
      if (!used[value]) block = {Aligned(values[value].bytes), static_cast<int>(call), 0, value};
      used[value] = true;
      block.last = static_cast<int>(call);
    };
    for (int value : calls[call].writes) touch(value);
    for (int value : calls[call].reads) touch(value);
  }
  std::vector<Block> blocks;
  for (size_t value = 0; value < values.size(); ++value) {
    const bool placed = used[value] && !values[value].external && values[value].bytes > 0;
    if (placed) blocks.push_back(of_value[value]);
  }
  for (size_t call = 0; call < calls.size(); ++call) {
    const int at = static_cast<int>(call);
    if (calls[call].workspace_bytes == 0) continue;
    blocks.push_back({Aligned(calls[call].workspace_bytes), at, at, -1});
  }
  return blocks;
}

uint64_t PeakLive(const std::vector<Block>& blocks, size_t calls) {
  std::vector<int64_t> change(calls + 1, 0);
  for (const Block& block : blocks) {
    change[block.first] += static_cast<int64_t>(block.bytes);
    change[block.last + 1] -= static_cast<int64_t>(block.bytes);
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (int64_t delta : change) peak = std::max(peak, live += delta);
  return static_cast<uint64_t>(peak);
}

// The smallest gap between the blocks alive at the same time that holds `bytes`.
uint64_t BestFit(uint64_t bytes, std::vector<Range> taken) {
  std::sort(taken.begin(), taken.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  uint64_t best = 0;
  uint64_t best_gap = std::numeric_limits<uint64_t>::max();
  uint64_t free_from = 0;
  for (const Range& range : taken) {
    const uint64_t gap = range.begin > free_from ? range.begin - free_from : 0;
    if (gap >= bytes && gap < best_gap) {
      best = free_from;
      best_gap = gap;
    }
    free_from = std::max(free_from, range.end);
  }
  return best_gap == std::numeric_limits<uint64_t>::max() ? free_from : best;
}

struct Placement {
  std::vector<uint64_t> offsets;  // one a block
  uint64_t arena_bytes = 0;
};

Placement Place(const std::vector<Block>& blocks, const std::vector<size_t>& order) {
  Placement placement{std::vector<uint64_t>(blocks.size(), 0), 0};
  std::vector<size_t> placed;
  std::vector<Range> taken;
  for (size_t i : order) {
    const Block& block = blocks[i];
    taken.clear();
    for (size_t other : placed) {
      const Block& at = blocks[other];
      if (at.last < block.first || block.last < at.first) continue;
      taken.push_back({placement.offsets[other], placement.offsets[other] + at.bytes});
    }
    placement.offsets[i] = BestFit(block.bytes, taken);
    placement.arena_bytes = std::max(placement.arena_bytes, placement.offsets[i] + block.bytes);
    placed.push_back(i);
  }
  return placement;
}

using Order = std::vector<size_t>;

// The block that reaches highest goes to a random place before its own, again and again: at the
// bottom it costs less. Ends at `peak`, and after about as many comparisons as `kBudget`.
void Improve(const std::vector<Block>& blocks, uint64_t peak, Order order, Placement* best) {
  constexpr uint64_t kBudget = 4'000'000;
  constexpr uint64_t kMostRounds = 1000;
  const uint64_t cost = blocks.size() * blocks.size() / 2 + 1;
  Random random(blocks.size());
  for (uint64_t round = std::min(kMostRounds, kBudget / cost); round > 0; --round) {
    if (best->arena_bytes <= peak) return;
    const auto top = std::find_if(order.begin(), order.end(), [&](size_t i) {
      return best->offsets[i] + blocks[i].bytes == best->arena_bytes;
    });
    Order next = order;
    const auto from = next.begin() + (top - order.begin());
    const auto to =
        next.begin() +
        static_cast<std::ptrdiff_t>(random.Below(static_cast<uint64_t>(top - order.begin()) + 1));
    std::rotate(to, from, from + 1);
    std::swap(next[random.Below(next.size())], next[random.Below(next.size())]);
    Placement placement = Place(blocks, next);
    if (placement.arena_bytes > best->arena_bytes) continue;
    *best = std::move(placement);
    order = std::move(next);
  }
}

// Large blocks first is best for most models, long-lived ones first for some, and the order of
// execution for chains.
Placement PlaceBest(const std::vector<Block>& blocks, uint64_t peak) {
  const auto by_size = [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; };
  const auto by_life = [&](size_t a, size_t b) {
    return blocks[a].last - blocks[a].first > blocks[b].last - blocks[b].first;
  };
  const auto by_time = [&](size_t a, size_t b) { return blocks[a].first < blocks[b].first; };
  Placement best;
  Order best_order;
  const auto try_order = [&](const auto& less, bool is_first) {
    if (!is_first && best.arena_bytes <= peak) return;
    Order order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), less);
    Placement placement = Place(blocks, order);
    if (!is_first && placement.arena_bytes >= best.arena_bytes) return;
    best = std::move(placement);
    best_order = std::move(order);
  };
  try_order(by_size, true);
  try_order(by_time, false);
  try_order(by_life, false);
  Improve(blocks, peak, std::move(best_order), &best);
  return best;
}

// What the calls since the last barrier read and write, in the arena and outside.
class Hazards {
 public:
  Hazards(const std::vector<PlannedValue>& values, const MemoryPlan& plan)
      : values_(values), plan_(plan) {}

  // Whether `call` must wait; starts anew from it if so.
  bool Enter(const PlannedCall& call, size_t index) {
    const bool wait = Conflicts(call, index);
    if (wait) {
      written_.clear();
      read_ranges_.clear();
      write_ranges_.clear();
    }
    for (int value : call.reads) AddRange(value, &read_ranges_);
    for (int value : call.writes) {
      written_.insert(value);
      AddRange(value, &write_ranges_);
    }
    if (call.workspace_bytes > 0) write_ranges_.push_back(Workspace(call, index));
    return wait;
  }

 private:
  bool Conflicts(const PlannedCall& call, size_t index) const {
    for (int value : call.reads) {
      if (written_.contains(value)) return true;
    }
    std::vector<Range> writes;
    for (int value : call.writes) {
      if (written_.contains(value)) return true;
      AddRange(value, &writes);
    }
    if (call.workspace_bytes > 0) writes.push_back(Workspace(call, index));
    return Overlaps(writes, read_ranges_) || Overlaps(writes, write_ranges_);
  }

  static bool Overlaps(const std::vector<Range>& a, const std::vector<Range>& b) {
    for (const Range& x : a) {
      for (const Range& y : b) {
        if (x.begin < y.end && y.begin < x.end) return true;
      }
    }
    return false;
  }

  void AddRange(int value, std::vector<Range>* ranges) const {
    if (values_[value].external) return;
    const uint64_t offset = plan_.value_offsets[value];
    ranges->push_back({offset, offset + values_[value].bytes});
  }

  Range Workspace(const PlannedCall& call, size_t index) const {
    const uint64_t offset = plan_.workspace_offsets[index];
    return {offset, offset + call.workspace_bytes};
  }

  const std::vector<PlannedValue>& values_;
  const MemoryPlan& plan_;
  std::unordered_set<int> written_;
  std::vector<Range> read_ranges_;
  std::vector<Range> write_ranges_;
};

}  // namespace

MemoryPlan PlanMemory(const std::vector<PlannedValue>& values,
                      const std::vector<PlannedCall>& calls) {
  const std::vector<Block> blocks = MakeBlocks(values, calls);
  MemoryPlan plan;
  plan.peak_live_bytes = PeakLive(blocks, calls.size());
  const Placement placement = PlaceBest(blocks, plan.peak_live_bytes);
  plan.arena_bytes = placement.arena_bytes;
  plan.value_offsets.assign(values.size(), 0);
  plan.workspace_offsets.assign(calls.size(), 0);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].value >= 0) {
      plan.value_offsets[blocks[i].value] = placement.offsets[i];
    } else {
      plan.workspace_offsets[blocks[i].first] = placement.offsets[i];
    }
  }
  Hazards hazards(values, plan);
  for (size_t i = 0; i < calls.size(); ++i) {
    plan.barrier_before.push_back(hazards.Enter(calls[i], i));
  }
  return plan;
}

}  // namespace hone::passes
