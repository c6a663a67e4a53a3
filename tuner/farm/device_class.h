// Classes of devices, as submitters name them: those of one processor, or of one machine.
#ifndef HONE_TUNER_FARM_DEVICE_CLASS_H_
#define HONE_TUNER_FARM_DEVICE_CLASS_H_

#include <string_view>

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// Conditions apart by commas, all of which hold of a device of the class:
//   kind=cpu|cuda|opencl   what it is
//   name=znver5            its processor: -mcpu, -arch or -device of its target
//   fingerprint=3fa9c0d2   the first digits, eight at least, of what identifies its machine
// kInvalidArgument for what is none of these. Empty: every device is.
absl::Status CheckDeviceClass(std::string_view text);
// False for a text that CheckDeviceClass refuses.
bool IsOfClass(const hone::v1::Device& device, std::string_view text);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_CLASS_H_
