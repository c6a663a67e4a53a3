// Describes a target's machine to the analytic models, which estimate the costs ("prices") of
// configs, layouts and launches. They all take cache sizes, bandwidths, vector widths, issue rates
// and clock rates from here. Times are in cycles of one core unless a name says nanoseconds or
// seconds; sizes are in bytes.
#ifndef HONE_COMPILER_MACHINE_MACHINE_H_
#define HONE_COMPILER_MACHINE_MACHINE_H_

#include <vector>

#include "compiler/ir/cpu_target.h"
#include "compiler/ir/target.h"
#include "compiler/machine/memory.h"
#include "compiler/machine/parallel.h"
#include "compiler/machine/units.h"

namespace hone::machine {

// A value type that is made from a target alone, so equal targets have equal machines.
struct Machine {
  static Machine For(const CpuTarget& target);
  // For a GPU only the parallel levels are set yet, without figures for analytic models; its work
  // items have no vectors.
  static Machine For(const Target& target);

  VectorUnit vector;
  MatrixUnit matrix;  // takes no type if cores have no matrix unit
  IssueRates issue;
  Memory memory;
  CopyRates copy;
  LaunchCosts launch;
  std::vector<ParallelLevel> parallel = {{}};  // outermost first
  // A rough figure for all CPUs. It matters only where times of kernels are compared with times of
  // launches.
  double clock_gigahertz = 3.5;

  double ClockHertz() const { return clock_gigahertz * 1e9; }
  // Whether launches are grids of many small threads, as on a GPU, and not loops split over a few
  // threads.
  bool HasGrid() const { return parallel.front().kind == ParallelKind::kGrid; }
  // How many threads run a kernel on a CPU.
  int64_t Threads() const { return parallel.front().width; }
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_MACHINE_H_
