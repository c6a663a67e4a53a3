// Which devices may measure code for a target: a rule a kind of target, one file each
// (docs/decisions/0020-targets-and-devices.md).
#ifndef HONE_RUNTIME_DEVICE_MATCH_DEVICE_MATCH_H_
#define HONE_RUNTIME_DEVICE_MATCH_DEVICE_MATCH_H_

#include <string_view>

namespace hone {

// A device that a worker offers.
struct OfferedDevice {
  std::string_view target;  // canonical text of its own (compiler/ir/target.h)
  int cores = 0;            // of a CPU, that a measurement may use; 0: the -threads of its target
};

// Whether the device may measure code for the target, which is canonical text. False for kinds that
// are not known.
bool CanMeasure(const OfferedDevice& device, std::string_view target);

}  // namespace hone

#endif  // HONE_RUNTIME_DEVICE_MATCH_DEVICE_MATCH_H_
