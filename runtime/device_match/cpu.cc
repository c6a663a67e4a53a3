#include <algorithm>
#include <set>

#include "runtime/device_match/rules.h"
#include "runtime/target_text.h"

namespace hone {
namespace {

std::set<std::string_view> FeaturesOf(std::string_view target) {
  std::set<std::string_view> features;
  std::string_view rest = FlagOf(target, "-mattr");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    features.insert(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return features;
}

}  // namespace

// A device with more features runs the code too, but its times would stand among those of other
// machines; its worker says so by offering the lesser target itself.
bool CpuCanMeasure(const OfferedDevice& device, std::string_view target) {
  const int cores = device.cores > 0 ? device.cores : ThreadsOf(device.target);
  return FlagOf(device.target, "-mtriple") == FlagOf(target, "-mtriple") &&
         FlagOf(device.target, "-mcpu") == FlagOf(target, "-mcpu") &&
         FeaturesOf(device.target) == FeaturesOf(target) && cores >= ThreadsOf(target) &&
         IsOfEmulated(device.target) == IsOfEmulated(target) &&
         FactsAgree(device.target, target, {"-caches"});
}

}  // namespace hone
