// Reads the flags in a target's text, for all kinds of targets.
#ifndef HONE_COMPILER_IR_TARGET_FLAGS_H_
#define HONE_COMPILER_IR_TARGET_FLAGS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::ir {

// A flag such as "-threads=2". Both views refer to the target's text.
struct TargetFlag {
  std::string_view name;   // "-threads"
  std::string_view value;  // "2"; empty where there is no '='
};

// Splits a text at a separator and leaves out empty parts.
std::vector<std::string_view> SplitText(std::string_view text, char separator);
TargetFlag FlagIn(std::string_view word);

// The flag's value; kInvalidArgument unless it is a whole number from `low` to `high`.
absl::StatusOr<int64_t> NumberIn(const TargetFlag& flag, int64_t low, int64_t high);
// The error for an unknown flag; `known` lists the known ones, separated by blanks.
absl::Status UnknownFlag(const TargetFlag& flag, std::string_view known);

// The most bytes that a flag may give a cache or a device's memory.
inline constexpr int64_t kMostBytes = int64_t{1} << 40;

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_TARGET_FLAGS_H_
