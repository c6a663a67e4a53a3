#include "measure_server/load_ahead.h"

#include <algorithm>

namespace hone::measure {

namespace v1 = hone::v1;

uint32_t CandidatesAheadOf(const v1::Device& device, const std::vector<v1::Device>& devices,
                           uint32_t spare_cores, std::optional<uint32_t> most) {
  const bool is_host_measured = std::ranges::any_of(
      devices, [](const v1::Device& other) { return other.kind() == v1::DEVICE_KIND_CPU; });
  if (device.kind() != v1::DEVICE_KIND_CUDA || is_host_measured) return 0;
  return std::min(spare_cores, most.value_or(kMostAhead));
}

}  // namespace hone::measure
