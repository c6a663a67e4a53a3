#include "compiler/ir/cpu_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "runtime/cpus.h"
#include "runtime/thread_team.h"
#include "support/status.h"

namespace hone {
namespace {

// A modest core's, for targets that do not say.
constexpr CpuFacts kModestCore = {.l1_bytes = 32 << 10, .l2_bytes = 512 << 10, .l3_bytes = 8 << 20};

const char* HostTriple() {
#ifdef __aarch64__
  return "aarch64-linux-gnu";
#else
  return "x86_64-linux-gnu";
#endif
}

absl::Status SetCaches(const ir::TargetFlag& flag, CpuFacts* facts) {
  const std::vector<std::string_view> sizes = ir::SplitText(flag.value, ',');
  if (sizes.size() != 3) {
    return absl::InvalidArgumentError(fmt::format(
        "expected three sizes in bytes (L1 data, L2, L3) in the target's flag -caches, found '{}'",
        flag.value));
  }
  int64_t* const fields[3] = {&facts->l1_bytes, &facts->l2_bytes, &facts->l3_bytes};
  for (int i = 0; i < 3; ++i) {
    HONE_ASSIGN_OR_RETURN(*fields[i], ir::NumberIn({flag.name, sizes[i]}, 0, ir::kMostBytes));
  }
  return absl::OkStatus();
}

void SetFeatures(std::string_view text, CpuTarget* target) {
  const std::vector<std::string_view> features = ir::SplitText(text, ',');
  const std::set<std::string> sorted(features.begin(), features.end());
  target->features.assign(sorted.begin(), sorted.end());
}

absl::Status SetEmulated(const ir::TargetFlag& flag, CpuFacts* facts) {
  if (flag.value != "yes") {
    return absl::InvalidArgumentError(fmt::format(
        "expected -emulated=yes in a target whose device is emulated, and no such flag in others, "
        "found '{}={}'",
        flag.name, flag.value));
  }
  facts->is_emulated = true;
  return absl::OkStatus();
}

absl::Status SetFlag(const ir::TargetFlag& flag, CpuTarget* target) {
  if (flag.name == "-caches") return SetCaches(flag, &target->facts);
  if (flag.name == "-emulated") return SetEmulated(flag, &target->facts);
  if (flag.name == "-mtriple") {
    target->triple = flag.value;
  } else if (flag.name == "-mcpu") {
    target->cpu = flag.value;
  } else if (flag.name == "-mattr") {
    SetFeatures(flag.value, target);
  } else if (flag.name == "-threads") {
    HONE_ASSIGN_OR_RETURN(const int64_t threads, ir::NumberIn(flag, 1, kMaxThreads));
    target->threads = static_cast<int>(threads);
  } else {
    return ir::UnknownFlag(flag, "-mtriple -mcpu -mattr -caches -emulated -threads");
  }
  return absl::OkStatus();
}

// The triple and the cpu, each filled from the other or from this machine.
absl::Status SetMachine(CpuTarget* target) {
  if (target->triple.empty()) {
    target->triple = HostTriple();
    if (!target->cpu.empty() && !FindCpu(target->triple, target->cpu)) {
      for (const char* triple : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
        if (FindCpu(triple, target->cpu)) target->triple = triple;
      }
    }
  }
  if (!target->IsX86() && !target->IsAArch64()) {
    return absl::InvalidArgumentError(
        fmt::format("unknown architecture in the target's -mtriple '{}'; known: x86_64 aarch64",
                    target->triple));
  }
  if (target->cpu.empty()) target->cpu = target->IsX86() ? "x86-64" : "generic";
  if (FindCpu(target->triple, target->cpu)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("unknown -mcpu '{}' for {}; known: {}", target->cpu,
                                                target->triple,
                                                fmt::join(KnownCpus(target->triple), " ")));
}

// The cpu is a known one.
void SetFeaturesOfCpu(CpuTarget* target) {
  target->features = FindCpu(target->triple, target->cpu)->Features();
  for (std::string& feature : target->features) feature.insert(0, "+");
}

absl::Status CheckFeatures(const CpuTarget& target) {
  const std::vector<std::string> known = KnownFeatures(target.triple);
  for (const std::string& feature : target.features) {
    if (feature.starts_with('+') &&
        std::find(known.begin(), known.end(), feature.substr(1)) != known.end()) {
      continue;
    }
    return absl::InvalidArgumentError(
        fmt::format("unknown feature '{}' in the target's flag -mattr; known for {}: {}", feature,
                    target.triple, fmt::join(known, " ")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CpuTarget> CpuTarget::FromFlags(std::span<const ir::TargetFlag> flags) {
  CpuTarget target;
  target.facts = kModestCore;
  bool has_features = false;
  for (const ir::TargetFlag& flag : flags) {
    has_features |= flag.name == "-mattr";
    HONE_RETURN_IF_ERROR(SetFlag(flag, &target));
  }
  HONE_RETURN_IF_ERROR(SetMachine(&target));
  if (!has_features) SetFeaturesOfCpu(&target);
  HONE_RETURN_IF_ERROR(CheckFeatures(target));
  return target;
}

std::string CpuTarget::ToString() const {
  return fmt::format("llvm -mtriple={} -mcpu={} -mattr={} -caches={},{},{}{} -threads={}", triple,
                     cpu, fmt::join(features, ","), facts.l1_bytes, facts.l2_bytes, facts.l3_bytes,
                     facts.is_emulated ? " -emulated=yes" : "", threads);
}

bool CpuTarget::Has(std::string_view feature) const {
  return std::any_of(features.begin(), features.end(), [&](const std::string& with_sign) {
    return std::string_view(with_sign).substr(1) == feature;
  });
}

bool CpuTarget::IsX86() const { return triple.starts_with("x86_64-"); }
bool CpuTarget::IsAArch64() const { return triple.starts_with("aarch64-"); }

int CpuTarget::VectorBytes() const {
  if (Has("avx512f")) return 64;
  return Has("avx") || Has("avx2") ? 32 : 16;
}

bool CpuTarget::MultipliesInTiles(DataType dtype) const {
  constexpr int kRowBytes = 64;
  if (!Has("amx-tile") || VectorBytes() != kRowBytes) return false;
  switch (dtype) {
    case DataType::kBFloat16:
      return Has("amx-bf16");
    case DataType::kInt8:
    case DataType::kUInt8:
      return Has("amx-int8");
    default:
      return false;
  }
}

int CpuTarget::VectorRegisters() const { return Has("avx512f") || IsAArch64() ? 32 : 16; }

}  // namespace hone
