// Device classes, in which submitters say which devices may measure for a job, such as those with
// one processor, or those of one machine.
#ifndef HONE_TUNER_FARM_DEVICE_CLASS_H_
#define HONE_TUNER_FARM_DEVICE_CLASS_H_

#include <string_view>

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// A device class is a list of conditions, separated by commas, which must all hold for the device:
//   kind=cpu|cuda|opencl   what it is
//   name=znver5            its processor: -mcpu, -arch or -device of its target
//   fingerprint=3fa9c0d2   the first digits, eight at least, of what identifies its machine
// kInvalidArgument if a condition is none of these. Every device is of the empty class.
absl::Status CheckDeviceClass(std::string_view text);
// False for a text that CheckDeviceClass refuses.
bool IsOfClass(const hone::v1::Device& device, std::string_view text);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_CLASS_H_
