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
// Recording costs as much as several runs, so the first run with new addresses launches one by one,
// and the second one records. Sequences too long for a graph always launch one by one. The stream
// keeps the order, so no barriers are needed.
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
  // Records what `launch` launches in so many walks over the plan. Null if the device has failed.
  GraphExec Record(const Launch& launch, int64_t runs = 1);
  // How many runs one start of several_ does, which is recorded when it is first needed; 1 if a
  // graph of several would gain nothing, or would hold more than `runs`.
  int64_t RunsAtOnce(int64_t runs);
  // Starts a run, by the graph if it is time for one. False if the device has failed.
  bool Start();

  const CudaModule& module_;
  CudaDevice& device_;
  const SequencePlan& plan_;
  std::vector<Function> functions_;  // one for each step
  GraphExec graph_ = nullptr;        // of the present addresses
  GraphExec several_ = nullptr;      // the same, of the runs that Time starts at once
  bool has_run_ = false;             // with the present addresses
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_CUDA_SEQUENCE_H_
