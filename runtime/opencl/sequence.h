// A sequence of launches on an OpenCL device.
#ifndef HONE_RUNTIME_OPENCL_SEQUENCE_H_
#define HONE_RUNTIME_OPENCL_SEQUENCE_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/launch_sequence.h"
#include "runtime/opencl/opencl_module.h"
#include "runtime/sequence_walk.h"

namespace hone::opencl {

// Each step has one kernel object. Its arguments are set when addresses change, and inside a repeat
// for each trip. The queue runs launches in order, so no barriers are needed.
class OpenClSequence final : public LaunchSequence {
 public:
  // `module` and `plan` must outlive the sequence. Null with a sentence in *error if the code lacks
  // a launch's entry.
  static std::unique_ptr<OpenClSequence> Make(const OpenClModule& module, const SequencePlan& plan,
                                              std::string* error);
  ~OpenClSequence() override;
  OpenClSequence(const OpenClSequence&) = delete;
  OpenClSequence& operator=(const OpenClSequence&) = delete;

  void Run() override;
  double Time(int64_t runs) override;
  double TimeWithoutKernels(int64_t runs) override;
  void RunTimed(std::vector<double>& call_ns) override;
  void AddressesChanged() override;

 private:
  OpenClSequence(const OpenClModule& module, const SequencePlan& plan)
      : device_(module.device()), plan_(plan) {}
  bool MakeKernels(const OpenClModule& module, std::string* error);
  // Sets the arguments of a step from the addresses of its kernel's buffers.
  bool SetArguments(size_t step, void* const* addresses);
  // `event` may be null. False if the device has failed.
  bool Enqueue(const StepVisit& visit, cl_command_queue queue, cl_event* event);
  bool EnqueueRun();

  OpenClDevice& device_;
  const SequencePlan& plan_;
  std::vector<cl_kernel> kernels_;  // one for each step
};

}  // namespace hone::opencl

#endif  // HONE_RUNTIME_OPENCL_SEQUENCE_H_
