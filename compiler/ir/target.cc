#include "compiler/ir/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "compiler/ir/cpus.h"
#include "runtime/host.h"
#include "runtime/thread_team.h"
#include "support/status.h"

namespace hone {
namespace {

// A modest core's, for targets that do not say.
constexpr int64_t kDefaultCaches[3] = {32 << 10, 512 << 10, 8 << 20};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

absl::StatusOr<int64_t> ParseNumber(std::string_view text, std::string_view flag, int64_t low,
                                    int64_t high) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return absl::InvalidArgumentError(
        fmt::format("expected a number from {} to {} in the target's flag {}, found '{}'", low,
                    high, flag, text));
  }
  return value;
}

const char* HostTriple() {
#ifdef __aarch64__
  return "aarch64-linux-gnu";
#else
  return "x86_64-linux-gnu";
#endif
}

absl::Status SetCaches(std::string_view text, Target* target) {
  const std::vector<std::string_view> sizes = Split(text, ',');
  if (sizes.size() != 3) {
    return absl::InvalidArgumentError(fmt::format(
        "expected three sizes in bytes (L1 data, L2, L3) in the target's flag -caches, found '{}'",
        text));
  }
  int64_t* const fields[3] = {&target->l1_bytes, &target->l2_bytes, &target->l3_bytes};
  for (int i = 0; i < 3; ++i) {
    HONE_ASSIGN_OR_RETURN(*fields[i], ParseNumber(sizes[i], "-caches", 0, int64_t{1} << 40));
  }
  return absl::OkStatus();
}

void SetFeatures(std::string_view text, Target* target) {
  const std::vector<std::string_view> features = Split(text, ',');
  const std::set<std::string> sorted(features.begin(), features.end());
  target->features.assign(sorted.begin(), sorted.end());
}

absl::Status SetFlag(std::string_view name, std::string_view value, Target* target) {
  if (name == "-mtriple") {
    target->triple = value;
  } else if (name == "-mcpu") {
    target->cpu = value;
  } else if (name == "-mattr") {
    SetFeatures(value, target);
  } else if (name == "-caches") {
    return SetCaches(value, target);
  } else if (name == "-threads") {
    HONE_ASSIGN_OR_RETURN(const int64_t threads, ParseNumber(value, name, 1, kMaxThreads));
    target->threads = static_cast<int>(threads);
  } else {
    return absl::InvalidArgumentError(fmt::format(
        "unknown target flag '{}'; known: -mtriple -mcpu -mattr -caches -threads", name));
  }
  return absl::OkStatus();
}

// The triple and the cpu, each filled from the other or from this machine.
absl::Status SetMachine(Target* target) {
  if (target->triple.empty()) {
    target->triple = HostTriple();
    if (!target->cpu.empty() && !ir::FindCpu(target->triple, target->cpu)) {
      for (const char* triple : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
        if (ir::FindCpu(triple, target->cpu)) target->triple = triple;
      }
    }
  }
  if (!target->IsX86() && !target->IsAArch64()) {
    return absl::InvalidArgumentError(
        fmt::format("unknown architecture in the target's -mtriple '{}'; known: x86_64 aarch64",
                    target->triple));
  }
  if (target->cpu.empty()) target->cpu = target->IsX86() ? "x86-64" : "generic";
  if (ir::FindCpu(target->triple, target->cpu)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("unknown -mcpu '{}' for {}; known: {}", target->cpu,
                                                target->triple,
                                                fmt::join(ir::KnownCpus(target->triple), " ")));
}

absl::Status CheckFeatures(const Target& target) {
  const std::vector<std::string> known = ir::KnownFeatures(target.triple);
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

absl::StatusOr<Target> Target::Parse(std::string_view text) {
  std::vector<std::string_view> words = Split(text, ' ');
  if (words.empty()) {
    return absl::InvalidArgumentError("the target is empty; try 'native' or 'llvm -mcpu=...'");
  }
  std::string host;
  if (words[0] == "native") {
    host = HostTargetText(HostCoreCount());
    std::vector<std::string_view> native = Split(host, ' ');
    native.insert(native.end(), words.begin() + 1, words.end());
    words = std::move(native);
  }
  Target target;
  if (words[0] != "llvm") {
    return absl::InvalidArgumentError(
        fmt::format("unknown target kind '{}'; known: native llvm", words[0]));
  }
  target.l1_bytes = kDefaultCaches[0];
  target.l2_bytes = kDefaultCaches[1];
  target.l3_bytes = kDefaultCaches[2];
  bool has_features = false;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string_view name = words[i].substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? "" : words[i].substr(equals + 1);
    has_features |= name == "-mattr";
    HONE_RETURN_IF_ERROR(SetFlag(name, value, &target));
  }
  HONE_RETURN_IF_ERROR(SetMachine(&target));
  if (!has_features) target.features = ir::FindCpu(target.triple, target.cpu)->Features();
  HONE_RETURN_IF_ERROR(CheckFeatures(target));
  return target;
}

std::string Target::ToString() const {
  std::string text =
      fmt::format("{} -mtriple={} -mcpu={} -mattr={}", kind, triple, cpu, fmt::join(features, ","));
  text += fmt::format(" -caches={},{},{} -threads={}", l1_bytes, l2_bytes, l3_bytes, threads);
  return text;
}

bool Target::Has(std::string_view feature) const {
  return std::any_of(features.begin(), features.end(), [&](const std::string& with_sign) {
    return std::string_view(with_sign).substr(1) == feature;
  });
}

bool Target::IsX86() const { return triple.starts_with("x86_64-"); }
bool Target::IsAArch64() const { return triple.starts_with("aarch64-"); }

int Target::VectorBytes() const {
  if (Has("avx512f")) return 64;
  return Has("avx") || Has("avx2") ? 32 : 16;
}

bool Target::MultipliesInTiles(DataType dtype) const {
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

// As measured (docs/decisions/0013-16-bit-floats.md). Intel's vdpbf16ps, of 16 pairs, holds both
// multipliers for two cycles, in which they make twice as many multiply-adds of float32: it is as
// if there were none.
double Target::BFloat16DotRate() const {
  if (IsAArch64() && Has("bf16")) return 2;
  return Has("avx512bf16") && cpu.starts_with("znver") ? 2 : 1;
}

int Target::VectorRegisters() const { return Has("avx512f") || IsAArch64() ? 32 : 16; }

}  // namespace hone
