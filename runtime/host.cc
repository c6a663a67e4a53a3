#include "runtime/host.h"

#include "runtime/host_cpu.h"
#include "runtime/missing_feature.h"
#include "runtime/target_text.h"
#include "runtime/thread_team.h"

namespace hone {

int HostCoreCount() { return static_cast<int>(UsableCores().size()); }

std::string HostTargetText(int threads) {
  const HostCpu host = DescribeHost();
  std::string text = "llvm -mtriple=" + host.triple + " -mcpu=" + host.cpu + " -mattr=";
  for (size_t i = 0; i < host.features.size(); ++i) {
    text += (i == 0 ? "+" : ",+") + host.features[i];
  }
  text += " -caches=";
  for (size_t level = 0; level < host.cache_bytes.size(); ++level) {
    text += (level == 0 ? "" : ",") + std::to_string(host.cache_bytes[level]);
  }
  text += " -threads=" + std::to_string(threads);
  return IsEmulated() ? AsEmulated(text) : text;
}

std::string MissingOnHost(std::string_view target, bool is_emulated) {
  const HostCpu host = DescribeHost();
  const std::string_view kind = KindOf(target);
  if (kind == "cuda" || kind == "opencl") return std::string(kind);
  const std::string_view triple = FlagOf(target, "-mtriple");
  if (triple.empty()) return "-mtriple";
  if (triple != host.triple) return std::string(triple);
  if (FlagOf(target, "-mattr").empty()) return "-mattr";
  const std::string feature = MissingFeature(target, host.features);
  if (!feature.empty() || IsOfEmulated(target) == is_emulated) return feature;
  return is_emulated ? "processor of its own" : "emulator";
}

}  // namespace hone
