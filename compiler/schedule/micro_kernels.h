// Micro-kernels: the loops over a register tile that templates make kernels of, measured once for a
// target. What is measured is an ordinary task (a matrix product whose every step finds what it
// needs in the first cache), recorded as any other; templates take their default tiles from it.
#ifndef HONE_COMPILER_SCHEDULE_MICRO_KERNELS_H_
#define HONE_COMPILER_SCHEDULE_MICRO_KERNELS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/target.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

// Canonical texts. One thread's: tables serve targets with any number of them.
struct MicroKernelTask {
  std::string workload;
  std::string workload_digest;
  std::string signature;
  std::string target;
  int64_t trials = 0;  // that measure all of it
};
MicroKernelTask MicroKernelTaskOf(const Target& target);

// The configs of the task's space that are measured, in the order of the space: every tile, not
// unrolled and with four steps at a time; of other knobs the first option.
std::vector<Config> TileConfigs(const Space& space);

// The measured time of a config, in any unit that is the same for all; 0: it failed.
struct ConfigCost {
  std::string config;  // text
  double cost = 0;
};

// How long one step of the sum takes each tile, in cycles of two multiplications of whole vectors,
// which is what the fastest tile does. Immutable; thread-safe.
class MicroKernelTimes {
 public:
  // nullptr unless each of TileConfigs has a cost: a table that grows would give other defaults
  // from one moment to the next.
  static std::shared_ptr<const MicroKernelTimes> Of(const Target& target,
                                                    const std::vector<ConfigCost>& costs);
  // By vectors and positions.
  using ByTile = std::map<std::pair<int64_t, int64_t>, double>;
  explicit MicroKernelTimes(ByTile step_cycles) : step_cycles_(std::move(step_cycles)) {}

  // Between two measured numbers of positions on the line between them, and below the least its
  // time: what waits for latencies gains nothing by doing less. nullopt above the greatest, or
  // where no tile of so many vectors was measured.
  std::optional<double> StepCycles(int64_t vectors, int64_t positions) const;

 private:
  ByTile step_cycles_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_MICRO_KERNELS_H_
