// A sequence of launches on a GPU of NVIDIA.
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

// The launches are recorded as one graph, which the device runs without waiting for the host. The
// first run with new addresses launches one by one, as recording costs several such runs: only the
// second run with the same addresses records. The stream keeps the order, so no barriers are
// needed.
class CudaSequence final : public LaunchSequence {
 public:
  // Module and plan outlive the sequence. Null with a sentence in *error if the code lacks an
  // entry.
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
  // A graph of what a walk with `launch` launches; null if the device has failed.
  GraphExec Record(const Launch& launch);
  // Starts a run: by the graph once there is one.
  bool Start();

  const CudaModule& module_;
  CudaDevice& device_;
  const SequencePlan& plan_;
  std::vector<Function> functions_;  // one for each step
  GraphExec graph_ = nullptr;        // of the present addresses
  bool has_run_ = false;             // with the present addresses
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_CUDA_SEQUENCE_H_
