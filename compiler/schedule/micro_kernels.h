// Micro-kernels: the loops over a register tile that templates make kernels of, measured once for a
// target, and how fast weights come that do not stay in the second cache. What is measured are
// ordinary tasks (a matrix product whose every step finds what it needs in the first cache, and one
// of a single row whose weights come from behind the second), recorded as any other; templates take
// their defaults from them.
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

// Canonical texts. One thread's: tables serve targets with any number of them.
struct MicroKernelTask {
  std::string name;
  std::string workload;
  std::string workload_digest;
  std::string signature;
  std::string target;
  std::vector<std::string> configs;  // that are measured; texts
  // Bytes of constants of the model whose kernel the task stands for, by which regimes are told
  // apart (decision 0004); 0: its own.
  int64_t constant_bytes = 0;
};
// That of the tiles and that of the stream.
std::vector<MicroKernelTask> MicroKernelTasksOf(const CpuTarget& target);

// The configs of a task's space that are measured, in the order of the space: every tile, not
// unrolled and with four steps at a time; of other knobs the first option.
std::vector<Config> TileConfigs(const Space& space);

// The measured time of a config, in any unit that is the same for all; 0: it failed.
struct ConfigCost {
  std::string config;  // text
  double cost = 0;
  std::string toolchain;  // that built it; empty: it was not built
};

// How long one step of the sum takes each tile, in cycles of two multiplications of whole vectors,
// which is what the fastest tile does, and how much a stream brings in one. Immutable; thread-safe.
class MicroKernelTimes {
 public:
  // `costs` of each of MicroKernelTasksOf, those of the newest toolchain last. The tiles are there
  // once each of their configs has a cost, and so is the stream: a table that grows config by
  // config would give other defaults from one moment to the next. Each is of one toolchain, the
  // newest with which it is whole (the stream of that of the tiles, if it is); where there is none,
  // of each config the newest time, as nothing is measured twice. nullptr: without the tiles.
  static std::shared_ptr<const MicroKernelTimes> Of(
      const CpuTarget& target, const std::vector<std::vector<ConfigCost>>& costs);
  // By vectors and positions.
  using ByTile = std::map<std::pair<int64_t, int64_t>, double>;
  explicit MicroKernelTimes(ByTile step_cycles,
                            std::optional<double> stream_bytes_a_cycle = std::nullopt)
      : step_cycles_(std::move(step_cycles)), stream_bytes_a_cycle_(stream_bytes_a_cycle) {}

  // Between two measured numbers of positions on the line between them, and below the least its
  // time: what waits for latencies gains nothing by doing less. nullopt above the greatest, or
  // where no tile of so many vectors was measured.
  std::optional<double> StepCycles(int64_t vectors, int64_t positions) const;

  // The bytes a cycle of weights that one core reads in order from behind its second cache;
  // nullopt: that failed, or is not measured.
  std::optional<double> StreamBytesACycle() const { return stream_bytes_a_cycle_; }

  bool operator==(const MicroKernelTimes& other) const = default;

 private:
  ByTile step_cycles_;
  std::optional<double> stream_bytes_a_cycle_;
};

// What StreamBytesACycle says, or where it is not measured what is usual of the machine, if that is
// known to be far from the rule; nullopt: neither.
std::optional<double> StreamBytesOf(const MicroKernelTimes* measured,
                                    const machine::Machine& machine);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_MICRO_KERNELS_H_
