#include "tuner/farm/device_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hone::tuner {

void DeviceHealth::Lost(const QuarantineRule& rule, int64_t trial, int64_t now_ns,
                        const std::string& why) {
  lost_.insert(trial);
  in_a_row_ += 1;
  why_ = why;
  if (in_a_row_ < rule.lost_in_a_row || IsQuarantined(now_ns)) return;
  int64_t rest_ns = rule.first_ns;
  for (int i = 0; i < quarantines_ && rest_ns < rule.longest_ns; ++i) rest_ns *= 2;
  quarantines_ += 1;
  until_ns_ = now_ns + std::min(rest_ns, rule.longest_ns);
}

std::set<int64_t> DeviceHealth::Measured() { return std::exchange(*this, DeviceHealth()).lost_; }

std::string DeviceHealth::Reason(int64_t now_ns) const {
  if (!IsQuarantined(now_ns)) return "";
  return fmt::format("lost {} measurements in a row, is tried again in {} s; the last: {}",
                     in_a_row_, (until_ns_ - now_ns + 999'999'999) / 1'000'000'000, why_);
}

}  // namespace hone::tuner
