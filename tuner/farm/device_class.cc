#include "tuner/farm/device_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/target_text.h"
#include "support/status.h"

namespace hone::tuner {
namespace {

constexpr size_t kMostBytes = 1024;
constexpr size_t kLeastDigits = 8;  // that name one machine among all of a farm

using Conditions = std::vector<std::pair<std::string, std::string>>;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

bool IsCondition(const std::string& key, const std::string& value) {
  if (key == "kind") return value == "cpu" || value == "cuda" || value == "opencl";
  if (key == "name") return !value.empty();
  return key == "fingerprint" && value.size() >= kLeastDigits && IsHex(value);
}

absl::StatusOr<Conditions> Parse(std::string_view text) {
  Conditions conditions;
  if (text.empty()) return conditions;
  const absl::string_view whole(text.data(), std::min(text.size(), kMostBytes));
  for (const absl::string_view part : absl::StrSplit(whole, ',')) {
    const std::pair<std::string, std::string> condition =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (text.size() <= kMostBytes && IsCondition(condition.first, condition.second)) {
      conditions.push_back(condition);
      continue;
    }
    return absl::InvalidArgumentError(fmt::format(
        "expected a class of devices such as kind=cpu, name=znver5 or fingerprint=3fa9c0d2 (the "
        "first digits, {} at least), or several apart by commas, found '{}'",
        kLeastDigits, std::string(part)));
  }
  return conditions;
}

// The processor that the target is, whatever its kind.
std::string_view NameOf(std::string_view target) {
  const std::string_view kind = KindOf(target);
  return FlagOf(target, kind == "llvm" ? "-mcpu" : kind == "cuda" ? "-arch" : "-device");
}

bool Holds(const hone::v1::Device& device, const std::string& key, const std::string& value) {
  if (key == "kind") return KindOf(device.target()) == (value == "cpu" ? "llvm" : value);
  if (key == "name") return NameOf(device.target()) == value;
  return absl::StartsWith(device.fingerprint(), value);
}

}  // namespace

absl::Status CheckDeviceClass(std::string_view text) { return Parse(text).status(); }

bool IsOfClass(const hone::v1::Device& device, std::string_view text) {
  const absl::StatusOr<Conditions> conditions = Parse(text);
  return conditions.ok() && std::ranges::all_of(*conditions, [&](const auto& condition) {
           return Holds(device, condition.first, condition.second);
         });
}

}  // namespace hone::tuner
