#include "compiler/ir/target_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hone::ir {

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

TargetFlag FlagIn(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {word, ""};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

absl::StatusOr<int64_t> NumberIn(const TargetFlag& flag, int64_t low, int64_t high) {
  const std::string_view text = flag.value;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return absl::InvalidArgumentError(
        fmt::format("expected a number from {} to {} in the target's flag {}, found '{}'", low,
                    high, flag.name, text));
  }
  return value;
}

absl::Status UnknownFlag(const TargetFlag& flag, std::string_view known) {
  return absl::InvalidArgumentError(
      fmt::format("unknown target flag '{}'; known: {}", flag.name, known));
}

}  // namespace hone::ir
