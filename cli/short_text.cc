#include "cli/short_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "cli/printable.h"
#include "runtime/target_text.h"

namespace hone::cli {
namespace {

constexpr size_t kMostOperators = 3;
constexpr size_t kDeviceDigits = 8;

bool IsOfName(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

// The words that are called, in order.
std::vector<std::string> OperatorsOf(std::string_view body) {
  std::vector<std::string> operators;
  for (size_t end = body.find('('); end != std::string_view::npos; end = body.find('(', end + 1)) {
    size_t begin = end;
    while (begin > 0 && IsOfName(body[begin - 1])) --begin;
    if (begin == end || !absl::ascii_isalpha(body[begin])) continue;
    operators.emplace_back(body.substr(begin, end - begin));
  }
  return operators;
}

std::string FirstShape(std::string_view workload) {
  constexpr std::string_view kTensor = "Tensor[(";
  const size_t begin = workload.find(kTensor);
  const size_t end = workload.find(')', begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return "";
  const size_t first = begin + kTensor.size();
  return absl::StrReplaceAll(std::string(workload.substr(first, end - first)), {{", ", "x"}});
}

}  // namespace

std::string ShortKernel(std::string_view workload) {
  const size_t begin = workload.find('{');
  std::vector<std::string> operators =
      OperatorsOf(begin == std::string_view::npos ? workload : workload.substr(begin));
  const bool has_more = operators.size() > kMostOperators;
  if (has_more) operators.resize(kMostOperators);
  const std::string shape = FirstShape(workload);
  return Printable(fmt::format("{}{}{}{}", fmt::join(operators, "+"), has_more ? "+..." : "",
                               shape.empty() ? "" : " ", shape));
}

std::string ShortTarget(std::string_view target) {
  std::string name(FlagOf(target, "-mcpu"));
  for (const char* flag : {"-arch", "-device"}) {
    if (name.empty()) name = FlagOf(target, flag);
  }
  if (name.empty()) name = KindOf(target);
  return Printable(KindOf(target) == "llvm" ? fmt::format("{}/{}", name, ThreadsOf(target)) : name);
}

std::string ShortDevice(std::string_view fingerprint) {
  return Printable(std::string(fingerprint.substr(0, kDeviceDigits)));
}

}  // namespace hone::cli
