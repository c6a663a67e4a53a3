// Names and features are those of LLVM 19.
#ifdef __aarch64__

#include <sys/auxv.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/host_cpu.h"

namespace hone {
namespace {

struct Feature {
  const char* name;
  unsigned long kind;
  int bit;
};

constexpr Feature kFeatures[] = {
    {"fp-armv8", AT_HWCAP, 0}, {"neon", AT_HWCAP, 1},      {"crc", AT_HWCAP, 7},
    {"lse", AT_HWCAP, 8},      {"fullfp16", AT_HWCAP, 10}, {"dotprod", AT_HWCAP, 20},
    {"sve", AT_HWCAP, 22},     {"sve2", AT_HWCAP2, 1},     {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},
};
constexpr int kReadsIdRegisters = 11;  // of AT_HWCAP

struct Part {
  uint32_t implementer;
  uint32_t part;
  const char* name;
};

constexpr Part kParts[] = {
    {0x41, 0xD03, "cortex-a53"},  {0x41, 0xD05, "cortex-a55"},  {0x41, 0xD07, "cortex-a57"},
    {0x41, 0xD08, "cortex-a72"},  {0x41, 0xD0B, "cortex-a76"},  {0x41, 0xD41, "cortex-a78"},
    {0x41, 0xD44, "cortex-x1"},   {0x41, 0xD0C, "neoverse-n1"}, {0x41, 0xD40, "neoverse-v1"},
    {0x41, 0xD49, "neoverse-n2"}, {0x41, 0xD4F, "neoverse-v2"}, {0x46, 0x001, "a64fx"},
    {0xC0, 0xAC3, "ampere1"},
};

std::string Name() {
  if ((getauxval(AT_HWCAP) >> kReadsIdRegisters & 1) == 0) return "generic";
  uint64_t id = 0;
  asm("mrs %0, MIDR_EL1" : "=r"(id));
  for (const Part& part : kParts) {
    if (part.implementer == (id >> 24 & 0xFF) && part.part == (id >> 4 & 0xFFF)) return part.name;
  }
  return "generic";
}

// Sizes as the kernel knows them ("64K"); where it says nothing the defaults stay.
void FillCaches(HostCpu* host) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string type;
    int level = 0;
    int64_t kib = 0;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "level") >> level;
    std::ifstream(folder + "size") >> kib;
    if (type.empty() || type == "Instruction" || level < 1 || level > 3 || kib <= 0) continue;
    host->cache_bytes[level - 1] = kib << 10;
  }
}

}  // namespace

const std::vector<std::string>& HostFeatures() {
  static const auto* const features = [] {
    auto* found = new std::vector<std::string>();
    for (const Feature& feature : kFeatures) {
      if ((getauxval(feature.kind) >> feature.bit & 1) != 0) found->emplace_back(feature.name);
    }
    std::sort(found->begin(), found->end());
    return found;
  }();
  return *features;
}

HostCpu DescribeHost() {
  HostCpu host;
  host.triple = "aarch64-linux-gnu";
  host.cpu = Name();
  host.features = HostFeatures();
  FillCaches(&host);
  return host;
}

bool LooksFor(std::string_view feature) {
  return std::any_of(std::begin(kFeatures), std::end(kFeatures),
                     [&](const Feature& known) { return known.name == feature; });
}

}  // namespace hone

#endif  // __aarch64__
