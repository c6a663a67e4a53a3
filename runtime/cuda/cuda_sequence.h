// A sequence of launches on an NVIDIA GPU.
#ifndef HONE_RUNTIME_CUDA_CUDA_SEQUENCE_H_
#define HONE_RUNTIME_CUDA_CUDA_SEQUENCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_module.h"
#include "runtime/launch_sequence.h"
#include "runtime/sequence_walk.h"

namespace hone::cuda {

// A run starts one recorded graph of all launches, which the device works through without the host.
// Recording costs as much as several runs, so the first run with new addresses launches the kernels
// one by one, and the second run records the graph. Sequences too long for a graph always launch
// their kernels one by one. The stream keeps the order, so no barriers are needed.
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
  using Launch = std::function<bool(const StepVisit&)>;

  CudaSequence(const CudaModule& module, const SequencePlan& plan)
      : module_(module), device_(module.device()), plan_(plan) {}
  bool FindFunctions(std::string* error);
  bool LaunchStep(const StepVisit& visit);
  bool LaunchNothing(const StepVisit& visit);
  // Records one graph of what `launch` launches in `runs` walks over the plan. Null if the device
  // has failed.
  GraphExec Record(const Launch& launch, int64_t runs = 1);
  // Returns how many runs the graph several_ holds, and records the graph when it is first needed.
  // Returns 1 if Time should start each run by itself: if one run has enough launches already, if
  // several_ would hold more than `runs` runs, or if there is no graph.
  int64_t RunsAtOnce(int64_t runs);
  // Starts a run, and records graph_ before if this run is to use it. False if the device has
  // failed.
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
