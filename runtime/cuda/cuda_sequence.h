// A sequence of launches on an NVIDIA GPU.
#ifndef HONE_RUNTIME_CUDA_CUDA_SEQUENCE_H_
#define HONE_RUNTIME_CUDA_CUDA_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_module.h"
#include "runtime/cuda/launch_graph.h"
#include "runtime/launch_sequence.h"
#include "runtime/sequence_walk.h"

namespace hone::cuda {

// A run starts one graph of all launches, which the device works through without the host. Launches
// that do not depend on each other may run at once there. Making a graph costs as much as several
// runs, so the first run with new addresses launches the kernels one by one, and the second run
// makes the graph. Sequences too long for a graph always launch their kernels one by one; the
// stream then keeps their order, so no barriers are needed.
class CudaSequence final : public LaunchSequence {
 public:
  // `module` and `plan` must outlive the sequence. Null with a sentence in *error if
  // CudaModule::Find fails for a launch.
  static std::unique_ptr<CudaSequence> Make(const CudaModule& module, const SequencePlan& plan,
                                            std::string* error);
  ~CudaSequence() override;
  CudaSequence(const CudaSequence&) = delete;
  CudaSequence& operator=(const CudaSequence&) = delete;

  void Run() override;
  double Time(int64_t runs) override;
  double TimeWithoutKernels(int64_t runs) override;
  void RunTimed(std::vector<double>& call_ns) override;
  void AddressesChanged() override;

 private:
  CudaSequence(const CudaModule& module, const SequencePlan& plan)
      : module_(module), device_(module.device()), plan_(plan) {}
  bool FindFunctions(std::string* error);
  // What the step launches, without its arguments.
  KernelLaunch KernelOf(size_t step) const;
  // A launch of the kernel that does nothing.
  KernelLaunch Nothing() const;
  bool LaunchStep(const StepVisit& visit);
  bool LaunchNothing();
  // Makes one graph of `runs` runs, one after the other. If `is_empty`, it has the same nodes and
  // the same order, but its kernels do nothing and none starts early. Null if the device has
  // failed.
  GraphExec MakeGraph(int64_t runs, bool is_empty);
  void AddRun(const std::vector<std::vector<size_t>>& dependencies, bool is_empty,
              LaunchGraph* graph) const;
  // Returns how many runs the graph several_ holds, and makes the graph when it is first needed.
  // Returns 1 if Time should start each run by itself: if one run has enough launches already, if
  // several_ would hold more than `runs` runs, or if there is no graph.
  int64_t RunsAtOnce(int64_t runs);
  // Starts a run, and makes graph_ before if this run is to use it. False if the device has failed.
  bool Start();

  const CudaModule& module_;
  CudaDevice& device_;
  const SequencePlan& plan_;
  std::vector<Function> functions_;  // one for each step
  GraphExec graph_ = nullptr;        // one run with the present addresses
  GraphExec several_ = nullptr;      // several such runs, which Time starts at once
  bool has_run_ = false;             // whether there was a run with the present addresses
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_CUDA_SEQUENCE_H_
