#include "compiler/passes/arena_placement.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "support/random.h"

namespace hone::passes {
namespace {

using Order = std::vector<size_t>;

template <typename Less>
Order OrderBy(size_t count, const Less& less) {
  Order order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

Order ByTime(const std::vector<ArenaBlock>& blocks) {
  return OrderBy(blocks.size(),
                 [&](size_t a, size_t b) { return blocks[a].first < blocks[b].first; });
}

// For each block those that must not overlap it: they are alive at the same time at some point, or
// neither may have the other's memory.
using Neighbours = std::vector<std::vector<uint32_t>>;

// nullopt where that would be more than `most` pairs.
std::optional<Neighbours> NeighboursOf(const std::vector<ArenaBlock>& blocks, uint64_t most,
                                       const MayReuse& may_reuse) {
  Neighbours neighbours(blocks.size());
  std::vector<size_t> before;  // without those that no later block can meet, where this is known
  uint64_t pairs = 0;
  for (size_t i : ByTime(blocks)) {
    const auto is_over = [&](size_t other) { return blocks[other].last < blocks[i].first; };
    if (!may_reuse) std::erase_if(before, is_over);
    for (size_t other : before) {
      if (is_over(other) && may_reuse(i, other)) continue;
      if (++pairs > most) return std::nullopt;
      neighbours[i].push_back(static_cast<uint32_t>(other));
      neighbours[other].push_back(static_cast<uint32_t>(i));
    }
    before.push_back(i);
  }
  return neighbours;
}

// The smallest gap between the blocks alive at the same time that holds `bytes`.
uint64_t BestFit(uint64_t bytes, std::vector<ByteRange>& taken) {
  std::sort(taken.begin(), taken.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  uint64_t best = 0;
  uint64_t best_gap = std::numeric_limits<uint64_t>::max();
  uint64_t free_from = 0;
  for (const ByteRange& range : taken) {
    const uint64_t gap = range.begin > free_from ? range.begin - free_from : 0;
    if (gap >= bytes && gap < best_gap) {
      best = free_from;
      best_gap = gap;
    }
    free_from = std::max(free_from, range.end);
  }
  return best_gap == std::numeric_limits<uint64_t>::max() ? free_from : best;
}

ArenaPlacement PlaceInOrder(const std::vector<ArenaBlock>& blocks, const Neighbours& neighbours,
                            const Order& order) {
  ArenaPlacement placement{std::vector<uint64_t>(blocks.size(), 0), 0};
  std::vector<bool> placed(blocks.size(), false);
  std::vector<ByteRange> taken;
  for (size_t i : order) {
    taken.clear();
    for (uint32_t other : neighbours[i]) {
      if (!placed[other]) continue;
      const uint64_t offset = placement.offsets[other];
      taken.push_back({offset, offset + blocks[other].bytes});
    }
    placement.offsets[i] = BestFit(blocks[i].bytes, taken);
    placement.arena_bytes = std::max(placement.arena_bytes, placement.offsets[i] + blocks[i].bytes);
    placed[i] = true;
  }
  return placement;
}

// The block that reaches highest goes to a random place before its own, again and again: at the
// bottom it costs less. Ends at `peak`, and after about as many looks at a neighbour as `kBudget`.
void Improve(const std::vector<ArenaBlock>& blocks, const Neighbours& neighbours, uint64_t peak,
             Order order, ArenaPlacement* best) {
  constexpr uint64_t kBudget = 4'000'000;
  constexpr uint64_t kMostRounds = 1000;
  uint64_t cost = blocks.size() + 1;
  for (const auto& of_block : neighbours) cost += of_block.size();
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
    ArenaPlacement placement = PlaceInOrder(blocks, neighbours, next);
    if (placement.arena_bytes > best->arena_bytes) continue;
    *best = std::move(placement);
    order = std::move(next);
  }
}

// Large blocks first is best for most models, long-lived ones first for some, and the order of
// execution for chains.
ArenaPlacement PlaceBest(const std::vector<ArenaBlock>& blocks, const Neighbours& neighbours,
                         uint64_t peak) {
  const size_t count = blocks.size();
  Order best_order =
      OrderBy(count, [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  ArenaPlacement best = PlaceInOrder(blocks, neighbours, best_order);
  const auto try_order = [&](Order order) {
    if (best.arena_bytes <= peak) return;
    ArenaPlacement placement = PlaceInOrder(blocks, neighbours, order);
    if (placement.arena_bytes >= best.arena_bytes) return;
    best = std::move(placement);
    best_order = std::move(order);
  };
  try_order(ByTime(blocks));
  try_order(OrderBy(count, [&](size_t a, size_t b) {
    return blocks[a].last - blocks[a].first > blocks[b].last - blocks[b].first;
  }));
  Improve(blocks, neighbours, peak, std::move(best_order), &best);
  return best;
}

// The parts of the arena that are free at one point of time.
class FreeParts {
 public:
  // The smallest that holds `bytes`; the end of the arena where none does.
  uint64_t Take(uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit != by_size_.end()) {
      const auto [size, begin] = *fit;
      Remove(begin, size);
      if (size > bytes) Insert(begin + bytes, size - bytes);
      return begin;
    }
    uint64_t begin = end_;
    if (!by_place_.empty()) {  // a part at the end is grown
      const auto [last, size] = *by_place_.rbegin();
      if (last + size == end_) {
        begin = last;
        Remove(last, size);
      }
    }
    end_ = begin + bytes;
    return begin;
  }

  void Give(uint64_t begin, uint64_t bytes) {
    const auto next = by_place_.lower_bound(begin);
    if (next != by_place_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == begin) {
        Remove(before, size);
        begin = before;
        bytes += size;
      }
    }
    const auto after = by_place_.find(begin + bytes);
    if (after != by_place_.end()) {
      const uint64_t size = after->second;
      Remove(begin + bytes, size);
      bytes += size;
    }
    Insert(begin, bytes);
  }

  uint64_t end() const { return end_; }

 private:
  void Insert(uint64_t begin, uint64_t bytes) {
    by_place_[begin] = bytes;
    by_size_.emplace(bytes, begin);
  }
  void Remove(uint64_t begin, uint64_t bytes) {
    by_place_.erase(begin);
    by_size_.erase({bytes, begin});
  }

  std::map<uint64_t, uint64_t> by_place_;            // begin, bytes
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // bytes, begin
  uint64_t end_ = 0;
};

// One walk through time.
ArenaPlacement PlaceByTime(const std::vector<ArenaBlock>& blocks) {
  ArenaPlacement placement{std::vector<uint64_t>(blocks.size(), 0), 0};
  FreeParts free;
  using Ending = std::pair<int, size_t>;  // last call, block
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  for (size_t i : ByTime(blocks)) {
    for (; !alive.empty() && alive.top().first < blocks[i].first; alive.pop()) {
      const size_t over = alive.top().second;
      free.Give(placement.offsets[over], blocks[over].bytes);
    }
    placement.offsets[i] = free.Take(blocks[i].bytes);
    alive.emplace(blocks[i].last, i);
  }
  placement.arena_bytes = free.end();
  return placement;
}

}  // namespace

uint64_t PeakLive(const std::vector<ArenaBlock>& blocks) {
  std::map<int, int64_t> change;
  for (const ArenaBlock& block : blocks) {
    change[block.first] += static_cast<int64_t>(block.bytes);
    change[block.last + 1] -= static_cast<int64_t>(block.bytes);
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [call, delta] : change) peak = std::max(peak, live += delta);
  return static_cast<uint64_t>(peak);
}

ArenaPlacement PlaceBlocks(const std::vector<ArenaBlock>& blocks, uint64_t peak,
                           const MayReuse& may_reuse) {
  constexpr uint64_t kMostPairs = 2'000'000;
  const std::optional<Neighbours> neighbours = NeighboursOf(blocks, kMostPairs, may_reuse);
  return neighbours ? PlaceBest(blocks, *neighbours, peak) : PlaceByTime(blocks);
}

}  // namespace hone::passes
