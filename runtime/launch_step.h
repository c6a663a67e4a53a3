// One launch as the threads of a team run it. Workers and deployed models share this code, so that
// both split the grid over threads in the same way.
#ifndef HONE_RUNTIME_LAUNCH_STEP_H_
#define HONE_RUNTIME_LAUNCH_STEP_H_

#include <cstdint>

#include "runtime/barrier_plan.h"
#include "runtime/module_abi.h"
#include "runtime/subnormals.h"

namespace hone {

// One launch of a list, with all that is known of it before a run.
struct LaunchStep {
  hone_launch_function function;
  int64_t grid_extent;
  bool serial;  // thread 0 runs all of it
  bool barrier_before;
  bool flush_subnormals;

  // A step for this launch, with a barrier before it if `wants_barrier`.
  static LaunchStep Of(const hone_launch& launch, bool wants_barrier) {
    const bool serial = launch.serial != 0 || launch.grid_extent == 1;
    return {launch.function, launch.grid_extent, serial, wants_barrier,
            (launch.flags & HONE_LAUNCH_FLUSH_SUBNORMALS) != 0};
  }

  // The same step with a barrier only if `barriers` decides so. Call it for each step in order.
  LaunchStep Planned(BarrierPlan& barriers) const {
    LaunchStep step = *this;
    step.barrier_before = barriers.Next(barrier_before, serial);
    return step;
  }

  // Runs one thread's part of the grid, with that thread's scratch and mode. A thread uses one mode
  // for its whole walk through the list of launches.
  void Run(void* const* buffers, int thread, int threads, void* scratch,
           SubnormalMode& mode) const {
    if (serial) {
      if (thread == 0) RunAll(buffers, scratch, mode);
      return;
    }
    mode.Set(flush_subnormals);
    const int64_t begin = grid_extent * thread / threads;
    const int64_t end = grid_extent * (thread + 1) / threads;
    if (begin < end) function(buffers, begin, end, scratch);
  }

  // Runs the whole grid in the calling thread.
  void RunAll(void* const* buffers, void* scratch, SubnormalMode& mode) const {
    mode.Set(flush_subnormals);
    function(buffers, 0, grid_extent, scratch);
  }
};

}  // namespace hone

#endif  // HONE_RUNTIME_LAUNCH_STEP_H_
