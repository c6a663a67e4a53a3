#include "runtime/cpus.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

namespace hone {
namespace {

constexpr std::string_view kX86Arch = "x86_64";
constexpr std::string_view kArmArch = "aarch64";

// Only features that code generation or a template can ask for. A base stands before who has it.
constexpr KnownCpu kCpus[] = {
    {kX86Arch, "x86-64", "", "sse2"},
    {kX86Arch, "x86-64-v2", "x86-64", "popcnt sse3 sse4.1 sse4.2 ssse3"},
    {kX86Arch, "x86-64-v3", "x86-64-v2", "avx avx2 bmi bmi2 f16c fma lzcnt movbe"},
    {kX86Arch, "x86-64-v4", "x86-64-v3", "avx512bw avx512cd avx512dq avx512f avx512vl"},
    {kX86Arch, "generic", "x86-64", ""},
    {kX86Arch, "nehalem", "x86-64-v2", ""},
    {kX86Arch, "westmere", "x86-64-v2", ""},
    {kX86Arch, "sandybridge", "x86-64-v2", "avx"},
    {kX86Arch, "ivybridge", "x86-64-v2", "avx f16c"},
    {kX86Arch, "haswell", "x86-64-v3", ""},
    {kX86Arch, "broadwell", "x86-64-v3", ""},
    {kX86Arch, "skylake", "x86-64-v3", ""},
    {kX86Arch, "alderlake", "x86-64-v3", "avxvnni"},
    {kX86Arch, "raptorlake", "x86-64-v3", "avxvnni"},
    {kX86Arch, "meteorlake", "x86-64-v3", "avxvnni"},
    {kX86Arch, "sierraforest", "x86-64-v3", "avxvnni avxvnniint8"},
    {kX86Arch, "skylake-avx512", "x86-64-v4", ""},
    {kX86Arch, "cascadelake", "x86-64-v4", "avx512vnni"},
    {kX86Arch, "cooperlake", "cascadelake", "avx512bf16"},
    {kX86Arch, "icelake-client", "cascadelake", "avx512bitalg avx512ifma avx512vbmi avx512vbmi2"},
    {kX86Arch, "icelake-server", "icelake-client", "avx512vpopcntdq"},
    {kX86Arch, "tigerlake", "icelake-client", "avx512vpopcntdq"},
    {kX86Arch, "rocketlake", "icelake-client", "avx512vpopcntdq"},
    {kX86Arch, "sapphirerapids", "icelake-server",
     "amx-bf16 amx-int8 amx-tile avx512bf16 avx512fp16 avxvnni"},
    {kX86Arch, "emeraldrapids", "sapphirerapids", ""},
    {kX86Arch, "graniterapids", "sapphirerapids", "amx-fp16"},
    {kX86Arch, "znver1", "x86-64-v3", ""},
    {kX86Arch, "znver2", "x86-64-v3", ""},
    {kX86Arch, "znver3", "x86-64-v3", ""},
    {kX86Arch, "znver4", "icelake-server", "avx512bf16"},
    {kX86Arch, "znver5", "znver4", "avxvnni"},
    {kArmArch, "generic", "", "fp-armv8 neon"},
    {kArmArch, "cortex-a53", "generic", "crc"},
    {kArmArch, "cortex-a57", "generic", "crc"},
    {kArmArch, "cortex-a72", "generic", "crc"},
    {kArmArch, "cortex-a55", "generic", "crc dotprod fullfp16 lse"},
    {kArmArch, "cortex-a76", "cortex-a55", ""},
    {kArmArch, "cortex-a78", "cortex-a55", ""},
    {kArmArch, "cortex-x1", "cortex-a55", ""},
    {kArmArch, "neoverse-n1", "cortex-a55", ""},
    {kArmArch, "neoverse-v1", "neoverse-n1", "bf16 i8mm sve"},
    {kArmArch, "neoverse-n2", "neoverse-v1", "sve2"},
    {kArmArch, "neoverse-v2", "neoverse-v1", "sve2"},
    {kArmArch, "neoverse-v3", "neoverse-v2", ""},
    {kArmArch, "apple-m1", "cortex-a55", ""},
    {kArmArch, "ampere1", "neoverse-n1", "bf16 i8mm"},
    {kArmArch, "a64fx", "generic", "crc fullfp16 lse sve"},
};

constexpr bool EachBaseStandsBefore() {
  for (size_t i = 0; i < std::size(kCpus); ++i) {
    bool is_known = kCpus[i].base.empty();
    for (size_t j = 0; j < i; ++j) {
      is_known |= kCpus[j].arch == kCpus[i].arch && kCpus[j].name == kCpus[i].base;
    }
    if (!is_known) return false;
  }
  return true;
}
static_assert(EachBaseStandsBefore());

std::string_view Arch(std::string_view triple) { return triple.substr(0, triple.find('-')); }

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::vector<std::string> KnownCpu::Features() const {
  std::vector<std::string> features;
  if (!base.empty()) features = FindCpu(arch, base)->Features();
  for (const std::string& word : Words(extra)) features.push_back(word);
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

bool HasFeaturesOf(std::string_view triple, std::string_view name,
                   const std::vector<std::string>& features) {
  const std::vector<std::string> needs = FindCpu(triple, name).value().Features();
  return std::ranges::all_of(needs, [&](const std::string& feature) {
    const bool is_of_tiles = feature.starts_with("amx-");
    return is_of_tiles || std::ranges::binary_search(features, feature);
  });
}

std::optional<KnownCpu> FindCpu(std::string_view triple, std::string_view name) {
  for (const KnownCpu& cpu : kCpus) {
    if (cpu.arch == Arch(triple) && cpu.name == name) return cpu;
  }
  return std::nullopt;
}

std::vector<std::string> KnownCpus(std::string_view triple) {
  std::vector<std::string> names;
  for (const KnownCpu& cpu : kCpus) {
    if (cpu.arch == Arch(triple)) names.emplace_back(cpu.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> KnownFeatures(std::string_view triple) {
  std::set<std::string> names;
  for (const KnownCpu& cpu : kCpus) {
    if (cpu.arch != Arch(triple)) continue;
    for (std::string& word : Words(cpu.extra)) names.insert(std::move(word));
  }
  return {names.begin(), names.end()};
}

}  // namespace hone
