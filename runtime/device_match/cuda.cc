#include "runtime/device_match/rules.h"
#include "runtime/target_text.h"

namespace hone {
namespace {

// "sm_90" of "sm_90a": instructions with the letter are those that every device of this compute
// capability has, and no other.
std::string_view CapabilityOf(std::string_view target) {
  std::string_view arch = FlagOf(target, "-arch");
  if (arch.ends_with('a')) arch.remove_suffix(1);
  return arch;
}

}  // namespace

bool CudaCanMeasure(const OfferedDevice& device, std::string_view target) {
  const std::string_view capability = CapabilityOf(target);
  return !capability.empty() && CapabilityOf(device.target) == capability &&
         FactsAgree(device.target, target, {"-multiprocessors", "-l2"});
}

}  // namespace hone
