#include "compiler/ir/cuda_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "support/status.h"

namespace hone {
namespace {

// From Volta on: what came before schedules its threads otherwise.
constexpr std::string_view kArchs[] = {"sm_70",   "sm_72",  "sm_75",   "sm_80",  "sm_86",
                                       "sm_87",   "sm_89",  "sm_90",   "sm_90a", "sm_100",
                                       "sm_100a", "sm_103", "sm_103a", "sm_120", "sm_120a"};

constexpr int64_t kMostMultiprocessors = 1 << 16;

absl::Status SetFlag(const ir::TargetFlag& flag, CudaTarget* target) {
  if (flag.name == "-arch") {
    if (std::ranges::count(kArchs, flag.value) == 0) {
      return absl::InvalidArgumentError(
          fmt::format("unknown architecture '{}' in the target's flag -arch; known: {}", flag.value,
                      fmt::join(kArchs, " ")));
    }
    target->arch = flag.value;
  } else if (flag.name == "-multiprocessors") {
    HONE_ASSIGN_OR_RETURN(const int64_t count, ir::NumberIn(flag, 1, kMostMultiprocessors));
    target->facts.multiprocessors = static_cast<int>(count);
  } else if (flag.name == "-l2") {
    HONE_ASSIGN_OR_RETURN(target->facts.l2_bytes, ir::NumberIn(flag, 1, ir::kMostBytes));
  } else {
    return ir::UnknownFlag(flag, "-arch -multiprocessors -l2");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CudaTarget> CudaTarget::FromFlags(std::span<const ir::TargetFlag> flags) {
  CudaTarget target;
  for (const ir::TargetFlag& flag : flags) HONE_RETURN_IF_ERROR(SetFlag(flag, &target));
  if (!target.arch.empty()) return target;
  return absl::InvalidArgumentError(
      "expected the flag -arch in a target of kind cuda, such as 'cuda -arch=sm_90', found none");
}

std::string CudaTarget::ToString() const {
  std::string text = fmt::format("cuda -arch={}", arch);
  if (facts.multiprocessors > 0) text += fmt::format(" -multiprocessors={}", facts.multiprocessors);
  if (facts.l2_bytes > 0) text += fmt::format(" -l2={}", facts.l2_bytes);
  return text;
}

}  // namespace hone
