// Which devices of the farm may measure code for a target.
#ifndef HONE_TUNER_FARM_DEVICE_MATCH_H_
#define HONE_TUNER_FARM_DEVICE_MATCH_H_

#include <string_view>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// Whether the device may measure code for the target (canonical text), by the rule of the target's
// kind (runtime/device_match/device_match.h).
bool CanMeasure(const hone::v1::Device& device, std::string_view target);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_MATCH_H_
