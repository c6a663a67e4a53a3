// What a launch costs, by its loops: where it computes most, what it touches, what of that which
// cache holds, and a rough time. Features are written from it.
#ifndef HONE_COMPILER_LOOP_LAUNCH_ANALYSIS_H_
#define HONE_COMPILER_LOOP_LAUNCH_ANALYSIS_H_

#include <array>
#include <vector>

#include "compiler/ir/cpu_target.h"
#include "compiler/loop/launch_summary.h"
#include "compiler/loop/stmt.h"
#include "compiler/machine/machine.h"

namespace hone::loop {

// The loops around the main store and what is touched below each.
struct Chain {
  std::vector<int> path;                // outermost first
  std::vector<double> footprint_bytes;  // [k]: of the k innermost loops; k = 0 .. path.size()
};

struct BufferUse {
  const BufferNode* buffer = nullptr;
  double count = 0;  // accesses
  double bytes = 0;  // touched in the launch
  bool read = false;
  bool written = false;
  std::vector<const AccessInfo*> accesses;
};

struct CacheUse {
  double level = 0;           // innermost loops whose footprint fits
  double work_inside = 0;     // iterations of those
  double footprint_over = 0;  // bytes of one loop more
  double traffic_bytes = 0;   // that come from beyond the cache
};

// The launch outlives it. Movable.
class LaunchAnalysis {
 public:
  LaunchAnalysis(const Launch& launch, const CpuTarget& target);
  LaunchAnalysis(LaunchAnalysis&&) = default;
  LaunchAnalysis(const LaunchAnalysis&) = delete;  // what it has points into its own summary

  const LaunchSummary& summary() const { return summary_; }
  const Chain& chain() const { return chain_; }
  const std::vector<BufferUse>& buffers() const { return buffers_; }
  const CacheUse& cache(size_t c) const { return caches_[c]; }
  bool HasMain() const { return main_ >= 0; }
  const StoreInfo& Main() const { return summary_.stores[static_cast<size_t>(main_)]; }
  const LoopInfo& Loop(int position) const { return summary_.loops[static_cast<size_t>(position)]; }

  // The product of the extents of the chain's loops of this kind.
  double Product(LoopKind kind) const;

  // Vector registers that register buffers take where most is computed.
  double Registers() const {
    return HasMain() ? Main().register_bytes / static_cast<double>(machine_.vector.size_bytes) : 0;
  }

  // Loads and stores of memory that are issued: what the unrolled loops inside do not move stays in
  // a register.
  double Issued(bool stores) const;

  // By how much too few independent accumulators slow down: two pipes of four cycles want eight.
  // Sums in tile registers wait for nothing.
  double LatencyFactor() const;

  bool Spills() const { return Registers() + 3 > static_cast<double>(machine_.vector.registers); }

  // By a roofline.
  double AnalyticSeconds() const;

 private:
  // The k innermost loops of the chain, and all loops below them.
  std::vector<bool> InnerLoops(size_t k) const;

  // Bytes that are touched by iterations of the loops `inner`.
  double Footprint(const BufferUse& use, const std::vector<bool>& inner) const;

  // Where in the path the loop of a tile is; -1: nowhere.
  int TileAround(const std::vector<int>& path) const;

  // Executions of the loops from the place in the path on.
  double Executions(const std::vector<int>& path, int from) const;

  // Cycles of the products of tiles, whose operations are taken out of `ops`: see
  // machine::TileShape.
  double TakeTiles(OpCounts* ops) const;

  // A tile reads whole rows: those of the left factor for its rows, those of the right one for its
  // steps.
  double TileReuse(const AccessInfo& access, int tile) const;

  double RegisterReuse(const AccessInfo& access) const;

  void GatherBuffers();
  void MeasureChain();
  CacheUse MeasureCache(double size) const;

  machine::Machine machine_;
  LaunchSummary summary_;
  int main_ = -1;
  Chain chain_;
  std::vector<BufferUse> buffers_;
  std::array<CacheUse, 3> caches_;
};

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_LAUNCH_ANALYSIS_H_
