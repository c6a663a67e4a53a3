#include "tuner/device_need.h"

#include <fmt/format.h>

namespace hone::tuner {

namespace v1 = hone::v1;

std::string DeviceNeed::ToText() const {
  std::string text = fmt::format("the target {}", target);
  if (!device_class.empty()) text += fmt::format(" and is of the class {}", device_class);
  if (sandbox != v1::SANDBOX_LEVEL_UNSPECIFIED) {
    text += fmt::format(", with a sandbox that is {} at least", SandboxName(sandbox));
  }
  return text;
}

std::string SandboxName(v1::SandboxLevel level) {
  switch (level) {
    case v1::SANDBOX_LEVEL_LIMITS:
      return "limits";
    case v1::SANDBOX_LEVEL_CONTAINED:
      return "contained";
    case v1::SANDBOX_LEVEL_STRICT:
      return "strict";
    default:
      return "unknown";
  }
}

}  // namespace hone::tuner
