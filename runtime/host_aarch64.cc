// Names and features are those of LLVM 19.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpus.h"
#include "runtime/host_cpu.h"

namespace hone {
namespace {

constexpr char kArmTriple[] = "aarch64-linux-gnu";

enum class Word { kHwcap, kHwcap2 };

struct ArmFeature {
  std::string_view name;
  Word in;
  int bit;
};

// The features of cpus.h. The system names one here only where it also saves its registers.
constexpr ArmFeature kArmFeatures[] = {
    {"fp-armv8", Word::kHwcap, 0}, {"neon", Word::kHwcap, 1},      {"crc", Word::kHwcap, 7},
    {"lse", Word::kHwcap, 8},      {"fullfp16", Word::kHwcap, 10}, {"dotprod", Word::kHwcap, 20},
    {"sve", Word::kHwcap, 22},     {"sve2", Word::kHwcap2, 1},     {"i8mm", Word::kHwcap2, 13},
    {"bf16", Word::kHwcap2, 14},
};

struct Part {
  uint32_t implementer;
  uint32_t number;
  std::string_view name;  // of cpus.h
};

constexpr uint32_t kArm = 0x41;
constexpr uint32_t kFujitsu = 0x46;
constexpr uint32_t kMicrosoft = 0x6D;
constexpr uint32_t kAmpere = 0xC0;

constexpr Part kParts[] = {
    {kArm, 0xD03, "cortex-a53"},
    {kArm, 0xD07, "cortex-a57"},
    {kArm, 0xD08, "cortex-a72"},
    {kArm, 0xD05, "cortex-a55"},
    {kArm, 0xD0B, "cortex-a76"},
    {kArm, 0xD41, "cortex-a78"},
    {kArm, 0xD44, "cortex-x1"},
    {kArm, 0xD0C, "neoverse-n1"},
    {kArm, 0xD40, "neoverse-v1"},
    {kArm, 0xD49, "neoverse-n2"},
    {kArm, 0xD4F, "neoverse-v2"},
    {kArm, 0xD84, "neoverse-v3"},
    {kMicrosoft, 0xD49, "neoverse-n2"},  // Azure Cobalt 100
    // Newer server cores than these that lack SVE have it hidden by a hypervisor or the system.
    {kArm, 0xD40, "neoverse-n1"},
    {kArm, 0xD49, "neoverse-n1"},
    {kArm, 0xD4F, "neoverse-n1"},
    {kArm, 0xD84, "neoverse-n1"},
    {kMicrosoft, 0xD49, "neoverse-n1"},
    {kFujitsu, 0x001, "a64fx"},
    {kAmpere, 0xAC3, "ampere1"},
};

std::vector<std::string> Features(const ArmSource& source) {
  std::vector<std::string> features;
  for (const ArmFeature& feature : kArmFeatures) {
    const uint64_t bits = feature.in == Word::kHwcap ? source.hwcap : source.hwcap2;
    if ((bits >> feature.bit & 1) != 0) features.emplace_back(feature.name);
  }
  std::sort(features.begin(), features.end());
  return features;
}

std::string Name(uint64_t midr, const std::vector<std::string>& features) {
  const auto implementer = static_cast<uint32_t>(midr >> 24 & 0xFF);
  const auto number = static_cast<uint32_t>(midr >> 4 & 0xFFF);
  for (const Part& part : kParts) {
    if (part.implementer == implementer && part.number == number &&
        HasFeaturesOf(kArmTriple, part.name, features)) {
      return std::string(part.name);
    }
  }
  return "generic";
}

}  // namespace

HostCpu DescribeArm(const ArmSource& source) {
  HostCpu host;
  host.triple = kArmTriple;
  host.features = Features(source);
  host.cpu = Name(source.midr, host.features);
  return host;
}

}  // namespace hone

#ifdef __aarch64__

#include <sys/auxv.h>

#include <fstream>
#include <iterator>

#include "runtime/thread_team.h"

namespace hone {
namespace {

// Describes the core that measurements take first: those of a machine need not be alike.
uint64_t ReadMidr() {
  constexpr uint64_t kReadsIdRegisters = uint64_t{1} << 11;  // of AT_HWCAP
  uint64_t midr = 0;
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(UsableCores().back()) +
                     "/regs/identification/midr_el1");
  if (file >> std::hex >> midr) return midr;
  if ((getauxval(AT_HWCAP) & kReadsIdRegisters) != 0) asm("mrs %0, MIDR_EL1" : "=r"(midr));
  return midr;
}

ArmSource ThisArm() { return {getauxval(AT_HWCAP), getauxval(AT_HWCAP2), ReadMidr()}; }

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
  static const auto* const features = new std::vector<std::string>(Features(ThisArm()));
  return *features;
}

HostCpu DescribeHost() {
  HostCpu host = DescribeArm(ThisArm());
  FillCaches(&host);
  return host;
}

bool LooksFor(std::string_view feature) {
  return std::any_of(std::begin(kArmFeatures), std::end(kArmFeatures),
                     [&](const ArmFeature& known) { return known.name == feature; });
}

}  // namespace hone

#endif  // __aarch64__
