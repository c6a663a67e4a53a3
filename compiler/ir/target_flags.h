// The words of a target's text, which all kinds share.
#ifndef HONE_COMPILER_IR_TARGET_FLAGS_H_
#define HONE_COMPILER_IR_TARGET_FLAGS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::ir {

// "-threads=2". Both views are of the target's text.
struct TargetFlag {
  std::string_view name;   // "-threads"
  std::string_view value;  // "2"; empty where there is no '='
};

// The parts that are not empty.
std::vector<std::string_view> SplitText(std::string_view text, char separator);
TargetFlag FlagIn(std::string_view word);

// The flag's value; kInvalidArgument where it is no whole number from `low` to `high`.
absl::StatusOr<int64_t> NumberIn(const TargetFlag& flag, int64_t low, int64_t high);
// `known` names those that there are, separated by blanks.
absl::Status UnknownFlag(const TargetFlag& flag, std::string_view known);

// What a cache or a device's memory may have.
inline constexpr int64_t kMostBytes = int64_t{1} << 40;

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_TARGET_FLAGS_H_
