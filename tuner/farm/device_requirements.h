// What a device must have to be given work.
#ifndef HONE_TUNER_FARM_DEVICE_REQUIREMENTS_H_
#define HONE_TUNER_FARM_DEVICE_REQUIREMENTS_H_

#include <string>
#include <string_view>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// What a task of the target (canonical text) requires of devices, on a farm that demands at least
// this sandbox.
hone::v1::Requirements RequirementsOf(std::string_view target, hone::v1::SandboxLevel sandbox);

// The sandbox in which the device's candidates run: its own, or that of its worker.
hone::v1::SandboxLevel SandboxOf(const hone::v1::Device& device, const hone::v1::Hello& hello);

// Why the device gets no work at all on a farm that demands at least this sandbox, as a text for
// people; empty if it may get work.
std::string WhyBarred(const hone::v1::Device& device, const hone::v1::Hello& hello,
                      hone::v1::SandboxLevel wanted);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_REQUIREMENTS_H_
