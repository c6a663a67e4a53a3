// Micro-kernels: the loops that compute one register tile, from which templates build kernels. They
// are measured once for each target, and so is the rate at which a core reads weights that do not
// stay in its second cache. What is measured are ordinary tasks: a matrix product whose every step
// finds its data in the first cache, and a product of a single row whose weights come from behind
// the second cache. They are recorded like all others. Templates take their defaults from the
// results.
#ifndef HONE_COMPILER_SCHEDULE_MICRO_KERNELS_H_
#define HONE_COMPILER_SCHEDULE_MICRO_KERNELS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/cpu_target.h"
#include "compiler/machine/machine.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

// A task to measure. All texts are canonical. The target has one thread; what is measured on it
// serves targets with any number of threads.
struct MicroKernelTask {
  std::string name;
  std::string workload;
  std::string workload_digest;
  std::string signature;
  std::string target;
  std::vector<std::string> configs;  // the configs to measure, as texts
  // Bytes of all constants of the model whose kernel this task imitates. They decide how warm its
  // constants are while it is timed (decision 0004). 0: the bytes of the kernel's own constants
  // decide.
  int64_t constant_bytes = 0;
};
// The task that measures register tiles, then the one that measures the stream of weights.
std::vector<MicroKernelTask> MicroKernelTasksOf(const CpuTarget& target);

// The configs of a task's space that are measured, in the order of the space: each tile once not
// unrolled and, where that is an option, once with four steps at a time. All other knobs have their
// first option.
std::vector<Config> TileConfigs(const Space& space);

// The measured time of a config, in any unit that is the same for all; 0: it failed.
struct ConfigCost {
  std::string config;  // text
  double cost = 0;
  std::string toolchain;  // that built it; empty: it was not built
};

// The cycles that one step of the sum takes each tile, and the bytes that a stream of weights
// brings in a cycle. A cycle is here the time in which the fastest tile makes two multiplications
// of whole vectors. Immutable; thread-safe.
class MicroKernelTimes {
 public:
  // `costs` has a list for each of MicroKernelTasksOf, in their order; each list has the costs of
  // the newest toolchain last. Returns nullptr until every config of the tiles has a cost, since a
  // table that grew config by config would give other defaults from one moment to the next, and
  // nullptr if all of them failed. The rate of the stream is missing for as long as one of the
  // stream's configs has no cost. The times of a task are all of one toolchain, the newest that has
  // a cost for every config; the stream prefers the toolchain of the tiles. Where no toolchain has
  // them all, the newest time of each config counts, since nothing is measured twice.
  static std::shared_ptr<const MicroKernelTimes> Of(
      const CpuTarget& target, const std::vector<std::vector<ConfigCost>>& costs);
  // The cycles of a step by the numbers of vectors and positions of the tile.
  using ByTile = std::map<std::pair<int64_t, int64_t>, double>;
  explicit MicroKernelTimes(ByTile step_cycles,
                            std::optional<double> stream_bytes_a_cycle = std::nullopt)
      : step_cycles_(std::move(step_cycles)), stream_bytes_a_cycle_(stream_bytes_a_cycle) {}

  // The cycles of one step of a tile. Between two measured numbers of positions they are
  // interpolated linearly. Below the least measured number they are as many as there: a tile that
  // waits for latencies gains nothing by doing less. nullopt: `positions` is above the greatest
  // measured number, or no tile of so many vectors was measured.
  std::optional<double> StepCycles(int64_t vectors, int64_t positions) const;

  // The bytes of weights that one core reads in a cycle, in order, from behind its second cache;
  // nullopt: this was not measured, or failed.
  std::optional<double> StreamBytesACycle() const { return stream_bytes_a_cycle_; }

  bool operator==(const MicroKernelTimes& other) const = default;

 private:
  ByTile step_cycles_;
  std::optional<double> stream_bytes_a_cycle_;
};

// The measured StreamBytesACycle, else the rate that `machine` has for its CPU, which it has only
// if the CPU is known to be far from the usual rates; nullopt: there is neither. `measured` may be
// nullptr.
std::optional<double> StreamBytesOf(const MicroKernelTimes* measured,
                                    const machine::Machine& machine);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_MICRO_KERNELS_H_
