// Tracks whether a device may be trusted with a trial.
#ifndef HONE_TUNER_FARM_DEVICE_HEALTH_H_
#define HONE_TUNER_FARM_DEVICE_HEALTH_H_

#include <cstdint>
#include <string>

namespace hone::tuner {

struct QuarantineRule {
  int lost_in_a_row = 2;  // measurements lost before the device is quarantined
  int64_t first_ns =
      10'000'000'000;  // the length of the first quarantine; it doubles each time in a row,
  int64_t longest_ns = 600'000'000'000;  // up to this
};

// A device that is lost again and again is quarantined for a while and then tried with one
// measurement at a time; a success clears it. All times are of one clock. Not thread-safe.
class DeviceHealth {
 public:
  DeviceHealth() = default;
  // The health that was stored; the device rests until `until_ns`.
  DeviceHealth(int64_t losses, int64_t rests, int64_t until_ns, std::string why)
      : in_a_row_(losses), rests_(rests), until_ns_(until_ns), why_(std::move(why)) {}

  // Notes that a measurement of the trial ended because the device was lost; `why` is for people.
  // Returns true if the trial seems to be to blame, because the device was sound until then or was
  // lost under this trial only; false if the device is.
  bool Lost(const QuarantineRule& rule, int64_t trial, int64_t now_ns, const std::string& why);

  bool IsQuarantined(int64_t now_ns) const { return now_ns < until_ns_; }
  // Whether the device is out of quarantine but has not measured anything since, so that it gets
  // one measurement at a time.
  bool IsOnTrial(int64_t now_ns) const { return until_ns_ > 0 && now_ns >= until_ns_; }
  // Why and for how long the device is in quarantine; empty if it is not.
  std::string Reason(int64_t now_ns) const;

  int64_t losses() const { return in_a_row_; }
  int64_t rests() const { return rests_; }
  int64_t RestNs(int64_t now_ns) const { return IsQuarantined(now_ns) ? until_ns_ - now_ns : 0; }
  const std::string& why() const { return why_; }

 private:
  int64_t in_a_row_ = 0;  // measurements lost
  int64_t only_trial_ =
      0;               // the trial that all of them were lost under; 0: several trials, or unknown
  int64_t rests_ = 0;  // in a row
  int64_t until_ns_ = 0;
  std::string why_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_HEALTH_H_
