// Runs one kernel of a module on the caller's buffers. Workers measure kernels with it, and the
// driver prepares constants with it.
#ifndef HONE_RUNTIME_KERNEL_RUNNER_H_
#define HONE_RUNTIME_KERNEL_RUNNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/launch_sequence.h"
#include "runtime/module_abi.h"

namespace hone {

// Runs on the device that the module is loaded on. The module and its LoadedModule must outlive the
// runner. Not thread-safe and not movable.
class KernelRunner {
 public:
  // `kernel` is one of the kernels of `table`, and `loaded` is that same module. If
  // LoadedModule::MakeSequence fails, ok() is false and error() says why in a sentence.
  KernelRunner(const hone_module& table, const hone_kernel& kernel, LoadedModule& loaded);
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;
  bool ok() const { return prepare_.sequence && run_.sequence; }
  const std::string& error() const { return error_; }

  // Takes one address in the device's memory for each entry of the kernel's buffer table, aligned
  // to HONE_BUFFER_ALIGNMENT.
  void Bind(std::vector<void*> buffers);
  // The same without a copy: the array must outlive the binding. Call AddressesChanged after
  // changing its pointers.
  void BindView(void* const* buffers);
  void AddressesChanged();

  // Runs all launches of the phase, in order. Buffers must be bound.
  void Run(hone_phase phase) { (phase == HONE_PHASE_PREPARE ? prepare_ : run_).sequence->Run(); }
  // Seconds that `runs` back-to-back runs of the run phase take.
  double Time(int64_t runs) { return run_.sequence->Time(runs); }

 private:
  struct Phase {
    SequencePlan plan;
    std::unique_ptr<LaunchSequence> sequence;
  };
  void Plan(const hone_module& table, const hone_kernel& kernel, hone_phase phase);

  Phase prepare_;
  Phase run_;
  std::vector<void*> buffers_;
  std::string error_;
};

}  // namespace hone

#endif  // HONE_RUNTIME_KERNEL_RUNNER_H_
