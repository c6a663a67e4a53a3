// Finds the device of this machine that can measure for a target.
#ifndef HONE_CLI_DEVICE_HERE_H_
#define HONE_CLI_DEVICE_HERE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/target.h"

namespace hone::cli {

// The device's name, as hone-measure's --device takes it: "cpu", or the first device behind a
// driver that can measure code for the target. If there is none, an error with exit code 2 that
// says why.
absl::StatusOr<std::string> DeviceHere(const Target& target);

// The flags with which hone-measure offers this device for the target.
std::vector<std::string> WorkerFlags(const std::string& device, const Target& target);

}  // namespace hone::cli

#endif  // HONE_CLI_DEVICE_HERE_H_
