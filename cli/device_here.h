// The device of this machine that measures for a target.
#ifndef HONE_CLI_DEVICE_HERE_H_
#define HONE_CLI_DEVICE_HERE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/target.h"

namespace hone::cli {

// Its name, as hone-measure's --device takes it: "cpu", or the first device behind a driver that
// can measure code for the target. Exit code 2, with what is missing here, if there is none.
absl::StatusOr<std::string> DeviceHere(const Target& target);

// The flags of a hone-measure that offers this device for the target.
std::vector<std::string> WorkerFlags(const std::string& device, const Target& target);

}  // namespace hone::cli

#endif  // HONE_CLI_DEVICE_HERE_H_
