#include "compiler/ir/cpus.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace hone::ir {
namespace {

constexpr std::string_view kX86 = "x86_64";
constexpr std::string_view kArm = "aarch64";

// Only features that code generation or a template can ask for.
constexpr Cpu kCpus[] = {
    {kX86, "x86-64", "", "sse2"},
    {kX86, "x86-64-v2", "x86-64", "popcnt sse3 sse4.1 sse4.2 ssse3"},
    {kX86, "x86-64-v3", "x86-64-v2", "avx avx2 bmi bmi2 f16c fma lzcnt movbe"},
    {kX86, "x86-64-v4", "x86-64-v3", "avx512bw avx512cd avx512dq avx512f avx512vl"},
    {kX86, "generic", "x86-64", ""},
    {kX86, "nehalem", "x86-64-v2", ""},
    {kX86, "westmere", "x86-64-v2", ""},
    {kX86, "sandybridge", "x86-64-v2", "avx"},
    {kX86, "ivybridge", "x86-64-v2", "avx f16c"},
    {kX86, "haswell", "x86-64-v3", ""},
    {kX86, "broadwell", "x86-64-v3", ""},
    {kX86, "skylake", "x86-64-v3", ""},
    {kX86, "alderlake", "x86-64-v3", "avxvnni"},
    {kX86, "raptorlake", "x86-64-v3", "avxvnni"},
    {kX86, "meteorlake", "x86-64-v3", "avxvnni"},
    {kX86, "sierraforest", "x86-64-v3", "avxvnni avxvnniint8"},
    {kX86, "skylake-avx512", "x86-64-v4", ""},
    {kX86, "cascadelake", "x86-64-v4", "avx512vnni"},
    {kX86, "cooperlake", "cascadelake", "avx512bf16"},
    {kX86, "icelake-client", "cascadelake", "avx512bitalg avx512ifma avx512vbmi avx512vbmi2"},
    {kX86, "icelake-server", "icelake-client", "avx512vpopcntdq"},
    {kX86, "tigerlake", "icelake-client", "avx512vpopcntdq"},
    {kX86, "rocketlake", "icelake-client", "avx512vpopcntdq"},
    {kX86, "sapphirerapids", "icelake-server",
     "amx-bf16 amx-int8 amx-tile avx512bf16 avx512fp16 avxvnni"},
    {kX86, "emeraldrapids", "sapphirerapids", ""},
    {kX86, "graniterapids", "sapphirerapids", "amx-fp16"},
    {kX86, "znver1", "x86-64-v3", ""},
    {kX86, "znver2", "x86-64-v3", ""},
    {kX86, "znver3", "x86-64-v3", ""},
    {kX86, "znver4", "icelake-server", "avx512bf16"},
    {kX86, "znver5", "znver4", "avxvnni"},
    {kArm, "generic", "", "fp-armv8 neon"},
    {kArm, "cortex-a53", "generic", "crc"},
    {kArm, "cortex-a57", "generic", "crc"},
    {kArm, "cortex-a72", "generic", "crc"},
    {kArm, "cortex-a55", "generic", "crc dotprod fullfp16 lse"},
    {kArm, "cortex-a76", "cortex-a55", ""},
    {kArm, "cortex-a78", "cortex-a55", ""},
    {kArm, "cortex-x1", "cortex-a55", ""},
    {kArm, "neoverse-n1", "cortex-a55", ""},
    {kArm, "neoverse-v1", "neoverse-n1", "bf16 i8mm sve"},
    {kArm, "neoverse-n2", "neoverse-v1", "sve2"},
    {kArm, "neoverse-v2", "neoverse-v1", "sve2"},
    {kArm, "apple-m1", "cortex-a55", ""},
    {kArm, "ampere1", "neoverse-n1", "bf16 i8mm"},
    {kArm, "a64fx", "generic", "crc fullfp16 lse sve"},
};

std::string_view Arch(std::string_view triple) { return triple.substr(0, triple.find('-')); }

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::vector<std::string> Cpu::Features() const {
  std::vector<std::string> features;
  if (!base.empty()) features = FindCpu(arch, base)->Features();
  for (const std::string& word : Words(extra)) features.push_back("+" + word);
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

std::optional<Cpu> FindCpu(std::string_view triple, std::string_view name) {
  for (const Cpu& cpu : kCpus) {
    if (cpu.arch == Arch(triple) && cpu.name == name) return cpu;
  }
  return std::nullopt;
}

std::vector<std::string> KnownCpus(std::string_view triple) {
  std::vector<std::string> names;
  for (const Cpu& cpu : kCpus) {
    if (cpu.arch == Arch(triple)) names.emplace_back(cpu.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> KnownFeatures(std::string_view triple) {
  std::set<std::string> names;
  for (const Cpu& cpu : kCpus) {
    if (cpu.arch != Arch(triple)) continue;
    for (std::string& word : Words(cpu.extra)) names.insert(std::move(word));
  }
  return {names.begin(), names.end()};
}

}  // namespace hone::ir
