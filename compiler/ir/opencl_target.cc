#include "compiler/ir/opencl_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "support/status.h"

namespace hone {
namespace {

constexpr size_t kLongestName = 64;
constexpr int64_t kMostThreads = 1 << 16;
constexpr int64_t kMostUnits = 1 << 16;

bool IsOfName(char c) {
  constexpr std::string_view kSigns = "._+:-";
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kSigns.find(c) != kSigns.npos;
}

absl::Status SetDevice(const ir::TargetFlag& flag, OpenClTarget* target) {
  if (flag.value.empty() || flag.value.size() > kLongestName ||
      !std::ranges::all_of(flag.value, IsOfName)) {
    return absl::InvalidArgumentError(fmt::format(
        "expected 1 to {} letters, digits and signs of '._+:-' in the target's flag -device, such "
        "as 'arm-mali-g78', found '{}'",
        kLongestName, flag.value));
  }
  target->device = flag.value;
  absl::AsciiStrToLower(&target->device);
  return absl::OkStatus();
}

absl::Status SetFlag(const ir::TargetFlag& flag, OpenClTarget* target) {
  if (flag.name == "-device") return SetDevice(flag, target);
  if (flag.name == "-max-threads") {
    HONE_ASSIGN_OR_RETURN(const int64_t count, ir::NumberIn(flag, 1, kMostThreads));
    target->max_threads = static_cast<int>(count);
  } else if (flag.name == "-local") {
    HONE_ASSIGN_OR_RETURN(target->local_bytes, ir::NumberIn(flag, 1, ir::kMostBytes));
  } else if (flag.name == "-compute-units") {
    HONE_ASSIGN_OR_RETURN(const int64_t count, ir::NumberIn(flag, 1, kMostUnits));
    target->facts.compute_units = static_cast<int>(count);
  } else {
    return ir::UnknownFlag(flag, "-device -max-threads -local -compute-units");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenClTarget> OpenClTarget::FromFlags(std::span<const ir::TargetFlag> flags) {
  OpenClTarget target;
  for (const ir::TargetFlag& flag : flags) HONE_RETURN_IF_ERROR(SetFlag(flag, &target));
  if (!target.device.empty()) return target;
  return absl::InvalidArgumentError(
      "expected the flag -device in a target of kind opencl, such as 'opencl "
      "-device=arm-mali-g78', found none");
}

std::string OpenClTarget::ToString() const {
  std::string text = fmt::format("opencl -device={}", device);
  if (max_threads > 0) text += fmt::format(" -max-threads={}", max_threads);
  if (local_bytes > 0) text += fmt::format(" -local={}", local_bytes);
  if (facts.compute_units > 0) text += fmt::format(" -compute-units={}", facts.compute_units);
  return text;
}

}  // namespace hone
