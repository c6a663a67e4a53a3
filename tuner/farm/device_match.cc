#include "tuner/farm/device_match.h"

#include <algorithm>
#include <charconv>

namespace hone::tuner {
namespace {

constexpr std::string_view kFlag = " -threads=";

// The range of the flag in the text; empty where it has none.
std::pair<size_t, size_t> FindThreads(std::string_view target) {
  const size_t begin = target.find(kFlag);
  if (begin == std::string_view::npos) return {target.size(), target.size()};
  return {begin, std::min(target.find(' ', begin + kFlag.size()), target.size())};
}

unsigned ThreadsOf(std::string_view target) {
  const auto [begin, end] = FindThreads(target);
  unsigned threads = 1;
  if (begin != end) {
    std::from_chars(target.data() + begin + kFlag.size(), target.data() + end, threads);
  }
  return threads;
}

}  // namespace

std::string WithoutThreads(std::string_view target) {
  const auto [begin, end] = FindThreads(target);
  return std::string(target.substr(0, begin)) + std::string(target.substr(end));
}

bool CanMeasure(const hone::v1::Device& device, std::string_view target) {
  const unsigned threads = device.threads() > 0 ? device.threads() : ThreadsOf(device.target());
  return threads >= ThreadsOf(target) && WithoutThreads(device.target()) == WithoutThreads(target);
}

}  // namespace hone::tuner
