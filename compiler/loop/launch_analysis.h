// Estimates what a launch costs from its loops: where it computes most, which memory it touches,
// how much of that each cache holds, and a rough time. Features are computed from it.
#ifndef HONE_COMPILER_LOOP_LAUNCH_ANALYSIS_H_
#define HONE_COMPILER_LOOP_LAUNCH_ANALYSIS_H_

#include <array>
#include <vector>

#include "compiler/ir/cpu_target.h"
#include "compiler/loop/launch_summary.h"
#include "compiler/loop/stmt.h"
#include "compiler/machine/machine.h"

namespace hone::loop {

// The loops around the main store, the one that computes most, and the bytes touched inside them.
struct Chain {
  std::vector<int> path;                // outermost first
  std::vector<double> footprint_bytes;  // [k]: touched by the k innermost; k = 0 .. path.size()
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
  double level = 0;           // how many of the innermost loops have a footprint that fits
  double work_inside = 0;     // iterations of those loops together
  double footprint_over = 0;  // bytes that these loops and the next outer one touch
  double traffic_bytes = 0;   // bytes that come from beyond the cache in the launch
};

// The launch outlives it. Movable.
class LaunchAnalysis {
 public:
  LaunchAnalysis(const Launch& launch, const CpuTarget& target);
  LaunchAnalysis(LaunchAnalysis&&) = default;
  LaunchAnalysis(const LaunchAnalysis&) = delete;  // buffers() point into summary()

  const LaunchSummary& summary() const { return summary_; }
  const Chain& chain() const { return chain_; }
  const std::vector<BufferUse>& buffers() const { return buffers_; }
  const CacheUse& cache(size_t c) const { return caches_[c]; }
  bool HasMain() const { return main_ >= 0; }
  const StoreInfo& Main() const { return summary_.stores[static_cast<size_t>(main_)]; }
  const LoopInfo& Loop(int position) const { return summary_.loops[static_cast<size_t>(position)]; }

  // The product of the extents of the chain's loops of this kind.
  double Product(LoopKind kind) const;

  // The vector registers that register buffers take at the main store.
  double Registers() const {
    return HasMain() ? Main().register_bytes / static_cast<double>(machine_.vector.size_bytes) : 0;
  }

  // The loads (or stores) of memory that are issued. An access that does not depend on the unrolled
  // loops around it is issued once for all their iterations, since its value stays in a register.
  double Issued(bool stores) const;

  // The factor by which too few independent accumulators slow the launch down. Two pipelines with a
  // latency of four cycles need eight. Sums in tile registers are not slowed down.
  double LatencyFactor() const;

  bool Spills() const { return Registers() + 3 > static_cast<double>(machine_.vector.registers); }

  // The time of the launch by a roofline model.
  double AnalyticSeconds() const;

 private:
  // The k innermost loops of the chain, and all loops below them.
  std::vector<bool> InnerLoops(size_t k) const;

  // Bytes that are touched by iterations of the loops `inner`.
  double Footprint(const BufferUse& use, const std::vector<bool>& inner) const;

  // The position in `path` of the first loop of kind kTile; -1 if there is none.
  int TileAround(const std::vector<int>& path) const;

  // The product of the extents of the loops in `path` from position `from` inwards.
  double Executions(const std::vector<int>& path, int from) const;

  // The cycles of all products of tiles (machine::TileShape). Subtracts the operations of these
  // products from `ops`.
  double TakeTiles(OpCounts* ops) const;

  // How many executions of the access are served by loading one row of a tile: an operation on
  // tiles loads a row of the left factor for each of its rows, and one of the right factor for each
  // step. `tile` is where the tile's loop stands in the access's path.
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
