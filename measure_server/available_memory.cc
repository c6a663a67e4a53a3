#include "measure_server/available_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace hone::measure {
namespace {

// "max" of a container without a limit is no number.
std::optional<uint64_t> NumberIn(const char* path) {
  uint64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;
}

uint64_t OfMachine() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string unit;
  for (uint64_t kib = 0; file >> name >> kib && std::getline(file, unit);) {
    if (name == "MemAvailable:") return kib << 10;
  }
  return UINT64_MAX;
}

uint64_t OfContainer() {
  const auto limit = NumberIn("/sys/fs/cgroup/memory.max");
  const auto used = NumberIn("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return UINT64_MAX;
  return *limit - std::min(*used, *limit);
}

}  // namespace

uint64_t AvailableMemoryBytes() { return std::min(OfMachine(), OfContainer()); }

}  // namespace hone::measure
