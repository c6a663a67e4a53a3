// What a measurement needs of the device that makes it.
#ifndef HONE_TUNER_DEVICE_NEED_H_
#define HONE_TUNER_DEVICE_NEED_H_

#include <compare>
#include <string>
#include <utility>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

struct DeviceNeed {
  // Any device for the target.
  DeviceNeed(std::string of) : target(std::move(of)) {}  // NOLINT(google-explicit-constructor)
  DeviceNeed(const char* of) : target(of) {}             // NOLINT(google-explicit-constructor)
  DeviceNeed(std::string of, hone::v1::SandboxLevel least, std::string only)
      : target(std::move(of)), sandbox(least), device_class(std::move(only)) {}

  std::string target;  // canonical text
  // The weakest sandbox that candidates may run in. UNSPECIFIED: what the farm requires.
  hone::v1::SandboxLevel sandbox = hone::v1::SANDBOX_LEVEL_UNSPECIFIED;
  std::string device_class;  // as farm/device_class.h reads it; empty: any

  // For people: "the target llvm ...", and what else is needed.
  std::string ToText() const;

  friend auto operator<=>(const DeviceNeed&, const DeviceNeed&) = default;
};

// "limits", "contained", "strict"; "unknown" for others.
std::string SandboxName(hone::v1::SandboxLevel level);

}  // namespace hone::tuner

#endif  // HONE_TUNER_DEVICE_NEED_H_
