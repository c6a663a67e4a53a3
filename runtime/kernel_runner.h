// Runs one kernel of an artifact on buffers of the caller: what workers measure, and how constants
// are prepared.
#ifndef HONE_RUNTIME_KERNEL_RUNNER_H_
#define HONE_RUNTIME_KERNEL_RUNNER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/launch_step.h"
#include "runtime/memory.h"
#include "runtime/module_abi.h"
#include "runtime/thread_team.h"

namespace hone {

// `kernel` and `team` outlive it. Not thread-safe.
class KernelRunner {
 public:
  // ok() is false when the scratch could not be allocated.
  KernelRunner(const hone_kernel& kernel, ThreadTeam& team);
  bool ok() const { return ok_; }

  // One pointer for each entry of the kernel's buffer table, aligned to HONE_BUFFER_ALIGNMENT.
  void Bind(std::vector<void*> buffers) {
    buffers_ = std::move(buffers);
    view_ = buffers_.data();
  }
  // The same without a copy: the array outlives the binding.
  void BindView(void* const* buffers) { view_ = buffers; }

  // All launches of the phase, in order.
  void Run(hone_phase phase);

 private:
  std::vector<LaunchStep> MakeSteps(hone_phase phase) const;
  void Walk(const std::vector<LaunchStep>& steps, int thread);

  const hone_kernel& kernel_;
  ThreadTeam& team_;
  std::vector<Memory> scratch_;
  std::vector<void*> buffers_;
  void* const* view_ = nullptr;
  const std::vector<LaunchStep> prepare_;
  const std::vector<LaunchStep> run_;
  const std::vector<LaunchStep>* current_ = nullptr;
  bool ok_ = true;
};

}  // namespace hone

#endif  // HONE_RUNTIME_KERNEL_RUNNER_H_
