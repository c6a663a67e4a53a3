#include "runtime/cpu_device.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu_sequence.h"

namespace hone {
namespace {

class HostMemory final : public DeviceMemory {
 public:
  explicit HostMemory(uint64_t size_bytes) : memory_(size_bytes) {}
  void* data() const override { return memory_.data(); }

 private:
  const Memory memory_;
};

class CpuModule final : public LoadedModule {
 public:
  CpuModule(const Module& module, CpuDevice& device) : module_(module), device_(device) {}

  void* parameters() const override { return const_cast<uint8_t*>(module_.parameters()); }
  std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan,
                                               std::string* error) override {
    return device_.MakeSequence(plan, error);
  }

 private:
  const Module& module_;
  CpuDevice& device_;
};

}  // namespace

std::unique_ptr<DeviceMemory> CpuDevice::Allocate(uint64_t size_bytes) {
  auto memory = std::make_unique<HostMemory>(size_bytes);
  if (memory->data() == nullptr) return nullptr;
  return memory;
}

void CpuDevice::CopyIn(void* to, const void* from_host, uint64_t size_bytes) {
  std::memcpy(to, from_host, size_bytes);
}

void CpuDevice::CopyOut(void* to_host, const void* from, uint64_t size_bytes) {
  std::memcpy(to_host, from, size_bytes);
}

void CpuDevice::Copy(void* to, const void* from, uint64_t size_bytes) {
  std::memcpy(to, from, size_bytes);
}

std::unique_ptr<LoadedModule> CpuDevice::Load(const Module& module, std::string* error) {
  if (!team_->error().empty()) {
    *error = team_->error();
    return nullptr;
  }
  if (DeviceLaunchCount(module.table()) > 0) {
    *error = std::string("expected a module for this processor, found one for ") +
             module.table().target + "; open it on such a device";
    return nullptr;
  }
  return std::make_unique<CpuModule>(module, *this);
}

std::unique_ptr<LaunchSequence> CpuDevice::MakeSequence(const SequencePlan& plan,
                                                        std::string* error) {
  uint64_t scratch_bytes = 0;
  for (const SequenceStep& step : plan.steps) {
    scratch_bytes = std::max(scratch_bytes, step.launch->scratch_bytes);
  }
  if (!ReserveScratch(scratch_bytes)) {
    *error = "expected " + std::to_string(scratch_bytes) +
             " bytes for the scratch of a thread, found less free memory";
    return nullptr;
  }
  return std::make_unique<CpuSequence>(*team_, scratch_, plan);
}

bool CpuDevice::ReserveScratch(uint64_t size_bytes) {
  for (Memory& memory : scratch_) {
    if (memory.size_bytes() >= size_bytes) continue;
    Memory larger(size_bytes);
    if (larger.data() == nullptr) return false;
    memory = std::move(larger);
  }
  return true;
}

}  // namespace hone
