// Tells which devices of the farm may measure code for a target.
#ifndef HONE_TUNER_FARM_DEVICE_MATCH_H_
#define HONE_TUNER_FARM_DEVICE_MATCH_H_

#include <string_view>

#include "hone/v1/farm.pb.h"
#include "tuner/device_need.h"

namespace hone::tuner {

// Whether the device may measure code for the target (canonical text), by the rule of the target's
// kind (runtime/device_match/device_match.h).
bool CanMeasure(const hone::v1::Device& device, std::string_view target);

// Whether the device also meets the rest of the need. `sandbox` is the one in which its candidates
// run.
bool Meets(const hone::v1::Device& device, hone::v1::SandboxLevel sandbox, const DeviceNeed& need);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_MATCH_H_
