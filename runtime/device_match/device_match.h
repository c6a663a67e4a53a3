// Decides which devices may measure code for a target. Each kind of target has a rule in a file of
// its own (docs/decisions/0020-targets-and-devices.md).
#ifndef HONE_RUNTIME_DEVICE_MATCH_DEVICE_MATCH_H_
#define HONE_RUNTIME_DEVICE_MATCH_DEVICE_MATCH_H_

#include <string_view>

namespace hone {

// A device that a worker offers.
struct OfferedDevice {
  std::string_view target;  // the device's own target, as canonical text (compiler/ir/target.h)
  int cores = 0;  // the cores of a CPU that a measurement may use; 0: the -threads of its target
};

// Whether the device may measure code for the target, given as canonical text. False for unknown
// kinds.
bool CanMeasure(const OfferedDevice& device, std::string_view target);

}  // namespace hone

#endif  // HONE_RUNTIME_DEVICE_MATCH_DEVICE_MATCH_H_
