#include "runtime/device_match/device_match.h"

#include <algorithm>

#include "runtime/device_match/rules.h"
#include "runtime/target_text.h"

namespace hone {

bool FactsAgree(std::string_view device, std::string_view target,
                std::initializer_list<std::string_view> flags) {
  return std::all_of(flags.begin(), flags.end(), [&](std::string_view flag) {
    const std::string_view of_device = FlagOf(device, flag);
    const std::string_view of_target = FlagOf(target, flag);
    return of_device == of_target || of_device.empty() || of_target.empty();
  });
}

bool CanMeasure(const OfferedDevice& device, std::string_view target) {
  const std::string_view kind = KindOf(target);
  if (KindOf(device.target) != kind) return false;
  if (kind == "llvm") return CpuCanMeasure(device, target);
  if (kind == "cuda") return CudaCanMeasure(device, target);
  if (kind == "opencl") return OpenClCanMeasure(device, target);
  return false;
}

}  // namespace hone
