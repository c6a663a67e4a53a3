#include "runtime/kernel_runner.h"

#include <utility>

#include "runtime/module.h"

namespace hone {

KernelRunner::KernelRunner(const hone_module& table, const hone_kernel& kernel,
                           LoadedModule& loaded)
    : buffers_(kernel.buffer_count, nullptr) {
  for (const hone_phase phase : {HONE_PHASE_PREPARE, HONE_PHASE_RUN}) {
    Plan(table, kernel, phase);
    Phase& made = phase == HONE_PHASE_PREPARE ? prepare_ : run_;
    made.plan.addresses = buffers_.data();
    made.sequence = loaded.MakeSequence(made.plan, &error_);
    if (!made.sequence) return;
  }
}

void KernelRunner::Plan(const hone_module& table, const hone_kernel& kernel, hone_phase phase) {
  const hone_device_launch* const of_device = DeviceLaunchesOf(table)[&kernel - table.kernels];
  SequencePlan& plan = (phase == HONE_PHASE_PREPARE ? prepare_ : run_).plan;
  for (uint32_t l = 0; l < kernel.launch_count; ++l) {
    const hone_launch& launch = kernel.launches[l];
    if (launch.phase != static_cast<uint32_t>(phase)) continue;
    // Nothing of this run stands before the first.
    plan.steps.push_back({.launch = &launch,
                          .device_launch = of_device != nullptr ? of_device + l : nullptr,
                          .buffers = kernel.buffers,
                          .wants_barrier = !plan.steps.empty() && launch.barrier_before != 0});
  }
}

void KernelRunner::Bind(std::vector<void*> buffers) {
  buffers_ = std::move(buffers);
  BindView(buffers_.data());
}

void KernelRunner::BindView(void* const* buffers) {
  prepare_.plan.addresses = buffers;
  run_.plan.addresses = buffers;
  AddressesChanged();
}

void KernelRunner::AddressesChanged() {
  prepare_.sequence->AddressesChanged();
  run_.sequence->AddressesChanged();
}

}  // namespace hone
