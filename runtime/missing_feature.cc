#include "runtime/missing_feature.h"

#include <algorithm>

#include "runtime/host_cpu.h"
#include "runtime/target_text.h"

namespace hone {

std::string MissingFeature(std::string_view target, const std::vector<std::string>& features) {
  std::string_view rest = FlagOf(target, "-mattr");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    std::string_view feature = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!feature.starts_with('+')) continue;
    feature.remove_prefix(1);
    if (LooksFor(feature) &&
        std::find(features.begin(), features.end(), feature) == features.end()) {
      return std::string(feature);
    }
  }
  return "";
}

}  // namespace hone
