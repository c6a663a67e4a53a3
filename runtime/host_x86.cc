// Names and features are those of LLVM 19.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpus.h"
#include "runtime/host_cpu.h"
#include "runtime/tile_permission.h"

namespace hone {
namespace {

constexpr char kX86Triple[] = "x86_64-linux-gnu";

enum class Register { kEax, kEbx, kEcx, kEdx };

// Bits of XCR0 that must all be set for a feature's registers to be saved.
constexpr uint64_t kNoState = 0;
constexpr uint64_t kYmm = 0x6;
constexpr uint64_t kZmm = 0xE6;
constexpr uint64_t kTileState = 0x60000;
constexpr uint64_t kTiles = kYmm | kTileState;

struct X86Feature {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register in;
  int bit;
  uint64_t state;
};

// The features of cpus.h.
constexpr X86Feature kX86Features[] = {
    {"sse2", 1, 0, Register::kEdx, 26, kNoState},
    {"sse3", 1, 0, Register::kEcx, 0, kNoState},
    {"ssse3", 1, 0, Register::kEcx, 9, kNoState},
    {"sse4.1", 1, 0, Register::kEcx, 19, kNoState},
    {"sse4.2", 1, 0, Register::kEcx, 20, kNoState},
    {"movbe", 1, 0, Register::kEcx, 22, kNoState},
    {"popcnt", 1, 0, Register::kEcx, 23, kNoState},
    {"lzcnt", 0x80000001, 0, Register::kEcx, 5, kNoState},
    {"bmi", 7, 0, Register::kEbx, 3, kNoState},
    {"bmi2", 7, 0, Register::kEbx, 8, kNoState},
    {"avx", 1, 0, Register::kEcx, 28, kYmm},
    {"fma", 1, 0, Register::kEcx, 12, kYmm},
    {"f16c", 1, 0, Register::kEcx, 29, kYmm},
    {"avx2", 7, 0, Register::kEbx, 5, kYmm},
    {"avxvnni", 7, 1, Register::kEax, 4, kYmm},
    {"avxvnniint8", 7, 1, Register::kEdx, 4, kYmm},
    {"avx512f", 7, 0, Register::kEbx, 16, kZmm},
    {"avx512dq", 7, 0, Register::kEbx, 17, kZmm},
    {"avx512ifma", 7, 0, Register::kEbx, 21, kZmm},
    {"avx512cd", 7, 0, Register::kEbx, 28, kZmm},
    {"avx512bw", 7, 0, Register::kEbx, 30, kZmm},
    {"avx512vl", 7, 0, Register::kEbx, 31, kZmm},
    {"avx512vbmi", 7, 0, Register::kEcx, 1, kZmm},
    {"avx512vbmi2", 7, 0, Register::kEcx, 6, kZmm},
    {"avx512vnni", 7, 0, Register::kEcx, 11, kZmm},
    {"avx512bitalg", 7, 0, Register::kEcx, 12, kZmm},
    {"avx512vpopcntdq", 7, 0, Register::kEcx, 14, kZmm},
    {"avx512fp16", 7, 0, Register::kEdx, 23, kZmm},
    {"avx512bf16", 7, 1, Register::kEax, 5, kZmm},
    {"amx-tile", 7, 0, Register::kEdx, 24, kTiles},
    {"amx-int8", 7, 0, Register::kEdx, 25, kTiles},
    {"amx-bf16", 7, 0, Register::kEdx, 22, kTiles},
    {"amx-fp16", 7, 1, Register::kEax, 21, kTiles},
};

struct ProcessorModel {
  std::string_view vendor;
  uint32_t family;
  uint32_t first;
  uint32_t last;
  std::string_view name;       // of cpus.h
  std::string_view also = "";  // features that it has to have beside those of its name
};

constexpr std::string_view kIntel = "GenuineIntel";
constexpr std::string_view kAmd = "AuthenticAMD";

// The first that fits in family, model and features.
constexpr ProcessorModel kModels[] = {
    {kIntel, 6, 0x8F, 0x8F, "sapphirerapids"},
    {kIntel, 6, 0xCF, 0xCF, "emeraldrapids"},
    {kIntel, 6, 0xAD, 0xAE, "graniterapids"},
    // Newer ones, and those that a hypervisor gives the number of an older one.
    {kIntel, 6, 0x00, 0xFF, "sapphirerapids", "amx-tile"},
    {kIntel, 6, 0x3C, 0x3C, "haswell"},
    {kIntel, 6, 0x3F, 0x3F, "haswell"},
    {kIntel, 6, 0x45, 0x46, "haswell"},
    {kIntel, 6, 0x3D, 0x3D, "broadwell"},
    {kIntel, 6, 0x47, 0x47, "broadwell"},
    {kIntel, 6, 0x4F, 0x4F, "broadwell"},
    {kIntel, 6, 0x56, 0x56, "broadwell"},
    {kIntel, 6, 0x4E, 0x4E, "skylake"},
    {kIntel, 6, 0x5E, 0x5E, "skylake"},
    {kIntel, 6, 0x8E, 0x8E, "skylake"},
    {kIntel, 6, 0x9E, 0x9E, "skylake"},
    {kIntel, 6, 0xA5, 0xA6, "skylake"},
    {kIntel, 6, 0x55, 0x55, "cooperlake"},
    {kIntel, 6, 0x55, 0x55, "cascadelake"},
    {kIntel, 6, 0x55, 0x55, "skylake-avx512"},
    {kIntel, 6, 0x6A, 0x6A, "icelake-server"},
    {kIntel, 6, 0x6C, 0x6C, "icelake-server"},
    {kIntel, 6, 0x7D, 0x7E, "icelake-client", "avx512vpopcntdq"},
    {kIntel, 6, 0x8C, 0x8D, "tigerlake"},
    {kIntel, 6, 0xA7, 0xA7, "rocketlake"},
    {kIntel, 6, 0x97, 0x97, "alderlake"},
    {kIntel, 6, 0x9A, 0x9A, "alderlake"},
    {kIntel, 6, 0xB7, 0xB7, "raptorlake"},
    {kIntel, 6, 0xBA, 0xBA, "raptorlake"},
    {kIntel, 6, 0xBF, 0xBF, "raptorlake"},
    {kIntel, 6, 0xAA, 0xAA, "meteorlake"},
    {kIntel, 6, 0xAC, 0xAC, "meteorlake"},
    {kIntel, 6, 0xAF, 0xAF, "sierraforest"},
    // Server cores some of whose features a hypervisor hides are an older one with the same mesh
    // and pipes: code for it is better than for no core in particular.
    {kIntel, 6, 0x00, 0xFF, "icelake-server"},
    {kIntel, 6, 0x00, 0xFF, "cascadelake"},
    {kIntel, 6, 0x00, 0xFF, "skylake-avx512"},
    {kAmd, 0x17, 0x00, 0x2F, "znver1"},
    {kAmd, 0x17, 0x30, 0xFF, "znver2"},
    {kAmd, 0x19, 0x00, 0x0F, "znver3"},
    {kAmd, 0x19, 0x20, 0x5F, "znver3"},
    {kAmd, 0x19, 0x10, 0x1F, "znver4"},
    {kAmd, 0x19, 0x60, 0xFF, "znver4"},
    {kAmd, 0x1A, 0x00, 0xFF, "znver5"},
    {kAmd, 0x1A, 0x00, 0xFF, "znver4"},
};

uint32_t Pick(const CpuidRegisters& registers, Register which) {
  switch (which) {
    case Register::kEax:
      return registers.eax;
    case Register::kEbx:
      return registers.ebx;
    case Register::kEcx:
      return registers.ecx;
    case Register::kEdx:
      return registers.edx;
  }
  return 0;
}

std::vector<std::string> Features(const CpuidSource& source) {
  std::vector<std::string> features;
  const uint64_t usable = source.enabled_state & (source.lends_tiles ? ~kNoState : ~kTileState);
  for (const X86Feature& feature : kX86Features) {
    const uint32_t bits = Pick(source.leaf(feature.leaf, feature.subleaf), feature.in);
    const bool has_state = (usable & feature.state) == feature.state;
    if ((bits >> feature.bit & 1) != 0 && has_state) features.emplace_back(feature.name);
  }
  std::sort(features.begin(), features.end());
  return features;
}

std::string Name(const CpuidSource& source, const std::vector<std::string>& features) {
  const CpuidRegisters zero = source.leaf(0, 0);
  std::string vendor;
  for (const uint32_t part : {zero.ebx, zero.edx, zero.ecx}) {
    for (int byte = 0; byte < 4; ++byte) vendor.push_back(static_cast<char>(part >> (8 * byte)));
  }
  const uint32_t version = source.leaf(1, 0).eax;
  const uint32_t base_family = version >> 8 & 0xF;
  const uint32_t family = base_family == 0xF ? base_family + (version >> 20 & 0xFF) : base_family;
  const uint32_t model = (version >> 4 & 0xF) | (version >> 12 & 0xF0);
  for (const ProcessorModel& candidate : kModels) {
    if (candidate.vendor == vendor && candidate.family == family && candidate.first <= model &&
        model <= candidate.last && HasFeaturesOf(kX86Triple, candidate.name, features) &&
        HasAll(features, candidate.also)) {
      return std::string(candidate.name);
    }
  }
  for (const char* const level : {"x86-64-v4", "x86-64-v3", "x86-64-v2"}) {
    if (HasFeaturesOf(kX86Triple, level, features)) return level;
  }
  return "x86-64";
}

// Intel describes caches in leaf 4, AMD in 0x8000001D, in the same form.
void FillCaches(const CpuidSource& source, HostCpu* host) {
  const uint32_t leaf = source.leaf(4, 0).eax != 0 ? 4 : 0x8000001D;
  for (uint32_t index = 0; index < 16; ++index) {
    const CpuidRegisters cache = source.leaf(leaf, index);
    const uint32_t type = cache.eax & 0x1F;  // 1: data, 2: instructions, 3: both
    const uint32_t level = cache.eax >> 5 & 7;
    if (type == 0) return;
    if (type == 2 || level < 1 || level > 3) continue;
    const int64_t ways = (cache.ebx >> 22) + 1;
    const int64_t partitions = (cache.ebx >> 12 & 0x3FF) + 1;
    const int64_t line_bytes = (cache.ebx & 0xFFF) + 1;
    host->cache_bytes[level - 1] =
        ways * partitions * line_bytes * (static_cast<int64_t>(cache.ecx) + 1);
  }
}

}  // namespace

HostCpu DescribeX86(const CpuidSource& source) {
  HostCpu host;
  host.triple = kX86Triple;
  host.features = Features(source);
  host.cpu = Name(source, host.features);
  FillCaches(source, &host);
  return host;
}

}  // namespace hone

#ifdef __x86_64__

#include <cpuid.h>

namespace hone {
namespace {

CpuidRegisters ReadLeaf(uint32_t leaf, uint32_t subleaf) {
  CpuidRegisters r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

uint64_t ReadEnabledState() {
  constexpr uint32_t kOsUsesXsave = 1u << 27;
  if ((ReadLeaf(1, 0).ecx & kOsUsesXsave) == 0) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

CpuidSource ThisX86() { return {ReadLeaf, ReadEnabledState(), SystemHasTiles()}; }

}  // namespace

HostCpu DescribeHost() { return DescribeX86(ThisX86()); }

const std::vector<std::string>& HostFeatures() {
  static const auto* const features = new std::vector<std::string>(Features(ThisX86()));
  return *features;
}

bool LooksFor(std::string_view feature) {
  return std::any_of(std::begin(kX86Features), std::end(kX86Features),
                     [&](const X86Feature& known) { return known.name == feature; });
}

}  // namespace hone

#elif !defined(__aarch64__)

namespace hone {

HostCpu DescribeHost() { return {"unknown-linux-gnu", "generic", {}, {}}; }
const std::vector<std::string>& HostFeatures() {
  static const auto* const none = new std::vector<std::string>();
  return *none;
}
bool LooksFor(std::string_view) { return false; }

}  // namespace hone

#endif
