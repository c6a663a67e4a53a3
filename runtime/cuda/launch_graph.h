// Builds the graph that the driver starts as one: nodes that launch kernels, and their order.
#ifndef HONE_RUNTIME_CUDA_LAUNCH_GRAPH_H_
#define HONE_RUNTIME_CUDA_LAUNCH_GRAPH_H_

#include <cstddef>
#include <vector>

#include "runtime/cuda/cuda_device.h"

namespace hone::cuda {

// A graph under construction. The device's context must be current as long as it lives. Once a call
// of the driver has failed, later ones do nothing.
class LaunchGraph {
 public:
  // If `starts_early`, a launch that waits for others itself may be started before they have ended.
  LaunchGraph(const CudaApi& api, bool starts_early);
  ~LaunchGraph();
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  // Adds a launch after the launches with the numbers `after`. Launches are numbered from 0 in each
  // run. `waits` says that the kernel begins by waiting for the launches before it.
  void Add(const KernelLaunch& launch, const std::vector<size_t>& after, bool waits);
  // Later launches are of the next run: all of them wait for all launches of this one.
  void EndRun();
  // Makes the graph ready to be started. `*exec` is the caller's to destroy.
  Result Instantiate(GraphExec* exec);
  // Whether some launch may be started early.
  bool has_early_starts() const { return has_early_starts_; }

 private:
  struct Node {
    GraphNode handle = nullptr;
    bool waits = false;
    bool is_last = true;  // no other launch of its run waits for it
  };

  bool MayStartEarly(const std::vector<size_t>& after, bool waits) const;

  const CudaApi& api_;
  const bool starts_early_;
  Graph graph_ = nullptr;
  Result result_ = kSuccess;
  std::vector<Node> run_;       // the launches of the current run
  GraphNode before_ = nullptr;  // what the run before ends with; null in the first run
  bool has_early_starts_ = false;
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_LAUNCH_GRAPH_H_
