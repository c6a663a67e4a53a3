#include "runtime/target_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace hone {
namespace {

constexpr std::string_view kThreads = "-threads";
constexpr std::string_view kEmulated = "-emulated";

struct Flag {
  size_t begin = 0;  // of the blank before it
  size_t value = 0;
  size_t end = 0;
};

// At the end of the text where it has no such flag.
Flag FindFlag(std::string_view target, std::string_view name) {
  const std::string text = " " + std::string(name) + "=";
  const size_t begin = target.find(text);
  if (begin == std::string_view::npos) return {target.size(), target.size(), target.size()};
  const size_t value = begin + text.size();
  return {begin, value, std::min(target.find(' ', value), target.size())};
}

}  // namespace

std::string_view KindOf(std::string_view target) { return target.substr(0, target.find(' ')); }

std::string_view FlagOf(std::string_view target, std::string_view flag) {
  const Flag found = FindFlag(target, flag);
  return target.substr(found.value, found.end - found.value);
}

int ThreadsOf(std::string_view target) {
  const std::string_view value = FlagOf(target, kThreads);
  int threads = 1;
  std::from_chars(value.data(), value.data() + value.size(), threads);
  return std::max(1, threads);
}

std::string WithoutThreads(std::string_view target) {
  const Flag found = FindFlag(target, kThreads);
  return std::string(target.substr(0, found.begin)) + std::string(target.substr(found.end));
}

bool IsOfEmulated(std::string_view target) { return !FlagOf(target, kEmulated).empty(); }

std::string AsEmulated(std::string_view target) {
  if (IsOfEmulated(target)) return std::string(target);
  const size_t place = FindFlag(target, kThreads).begin;
  return std::string(target.substr(0, place)) + " " + std::string(kEmulated) + "=yes" +
         std::string(target.substr(place));
}

}  // namespace hone
