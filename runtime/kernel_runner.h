// Runs one kernel of an artifact on the caller's buffers. Workers measure kernels with it, and the
// driver prepares constants with it.
#ifndef HONE_RUNTIME_KERNEL_RUNNER_H_
#define HONE_RUNTIME_KERNEL_RUNNER_H_

#include <memory>
#include <utility>
#include <vector>

#include "runtime/cpu_device.h"
#include "runtime/launch_sequence.h"
#include "runtime/module_abi.h"
#include "runtime/thread_team.h"

namespace hone {

// `kernel` and `team` outlive the runner. Not thread-safe; it cannot be moved.
class KernelRunner {
 public:
  // ok() is false when the scratch could not be allocated.
  KernelRunner(const hone_kernel& kernel, ThreadTeam& team);
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;
  bool ok() const { return prepare_.sequence && run_.sequence; }

  // One pointer for each entry of the kernel's buffer table, aligned to HONE_BUFFER_ALIGNMENT.
  void Bind(std::vector<void*> buffers) {
    buffers_ = std::move(buffers);
    BindView(buffers_.data());
  }
  // The same without a copy: the array outlives the binding, and its pointers may change between
  // runs.
  void BindView(void* const* buffers) {
    prepare_.plan.addresses = buffers;
    run_.plan.addresses = buffers;
  }

  // Runs all launches of the phase, in order.
  void Run(hone_phase phase) { (phase == HONE_PHASE_PREPARE ? prepare_ : run_).sequence->Run(); }

 private:
  struct Phase {
    SequencePlan plan;
    std::unique_ptr<LaunchSequence> sequence;
  };
  static SequencePlan PlanOf(const hone_kernel& kernel, hone_phase phase);

  CpuDevice device_;
  Phase prepare_;
  Phase run_;
  std::vector<void*> buffers_;
};

}  // namespace hone

#endif  // HONE_RUNTIME_KERNEL_RUNNER_H_
