#include "tuner/farm/device_health.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::tuner {

bool DeviceHealth::Lost(const QuarantineRule& rule, int64_t trial, int64_t now_ns,
                        const std::string& why) {
  const bool is_trials = in_a_row_ == 0 || only_trial_ == trial;
  only_trial_ = is_trials ? trial : 0;
  in_a_row_ += 1;
  why_ = why;
  if (in_a_row_ < rule.lost_in_a_row || IsQuarantined(now_ns)) return is_trials;
  int64_t rest_ns = rule.first_ns;
  for (int64_t i = 0; i < rests_ && rest_ns < rule.longest_ns; ++i) rest_ns *= 2;
  rests_ += 1;
  until_ns_ = now_ns + std::min(rest_ns, rule.longest_ns);
  return is_trials;
}

std::string DeviceHealth::Reason(int64_t now_ns) const {
  if (!IsQuarantined(now_ns)) return "";
  return fmt::format("lost {} measurements in a row, is tried again in {} s; the last: {}",
                     in_a_row_, (until_ns_ - now_ns + 999'999'999) / 1'000'000'000, why_);
}

}  // namespace hone::tuner
