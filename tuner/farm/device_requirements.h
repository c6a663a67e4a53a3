// What a device must have to be given work.
#ifndef HONE_TUNER_FARM_DEVICE_REQUIREMENTS_H_
#define HONE_TUNER_FARM_DEVICE_REQUIREMENTS_H_

#include <string>
#include <string_view>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// What a task of the target (canonical text) requires, on a farm that wants at least this sandbox.
hone::v1::Requirements RequirementsOf(std::string_view target, hone::v1::SandboxLevel sandbox);

// The sandbox in which the device's candidates run: its own, or that of its worker.
hone::v1::SandboxLevel SandboxOf(const hone::v1::Device& device, const hone::v1::Hello& hello);

// Empty, or why the device is given nothing at all on a farm that wants at least this sandbox, for
// people.
std::string WhyBarred(const hone::v1::Device& device, const hone::v1::Hello& hello,
                      hone::v1::SandboxLevel wanted);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_REQUIREMENTS_H_
