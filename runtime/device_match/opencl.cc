#include <charconv>
#include <cstdint>

#include "runtime/device_match/rules.h"
#include "runtime/target_text.h"

namespace hone {
namespace {

// 0 where the text does not say.
int64_t NumberOf(std::string_view target, std::string_view flag) {
  const std::string_view value = FlagOf(target, flag);
  int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace

bool OpenClCanMeasure(const OfferedDevice& device, std::string_view target) {
  const std::string_view family = FlagOf(target, "-device");
  if (family.empty() || FlagOf(device.target, "-device") != family) return false;
  for (const char* limit : {"-max-threads", "-local"}) {
    if (NumberOf(device.target, limit) < NumberOf(target, limit)) return false;
  }
  return FactsAgree(device.target, target, {"-compute-units"});
}

}  // namespace hone
