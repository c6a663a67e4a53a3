// Whether a device may be trusted with a trial.
#ifndef HONE_TUNER_FARM_DEVICE_HEALTH_H_
#define HONE_TUNER_FARM_DEVICE_HEALTH_H_

#include <cstdint>
#include <string>

namespace hone::tuner {

struct QuarantineRule {
  int lost_in_a_row = 2;                 // measurements, then the device rests
  int64_t first_ns = 10'000'000'000;     // the first time; each time in a row twice as long,
  int64_t longest_ns = 600'000'000'000;  // up to this
};

// A device that is lost again and again is left alone for a while, then tried with one measurement:
// one that succeeds clears it. Times are those of one clock. Not thread-safe.
class DeviceHealth {
 public:
  DeviceHealth() = default;
  // The health that was stored; the device rests until `until_ns`.
  DeviceHealth(int64_t losses, int64_t rests, int64_t until_ns, std::string why)
      : in_a_row_(losses), rests_(rests), until_ns_(until_ns), why_(std::move(why)) {}

  // A measurement of the trial ended because the device was lost; `why` is for people. True: as far
  // as one can tell the trial is to blame: the device was sound until then, or it was lost under
  // this trial alone. False: the device is.
  bool Lost(const QuarantineRule& rule, int64_t trial, int64_t now_ns, const std::string& why);

  bool IsQuarantined(int64_t now_ns) const { return now_ns < until_ns_; }
  // Out of quarantine, and nothing measured since: to be tried with one measurement at a time.
  bool IsOnTrial(int64_t now_ns) const { return until_ns_ > 0 && now_ns >= until_ns_; }
  // Why, and for how long; empty where the device is not in quarantine.
  std::string Reason(int64_t now_ns) const;

  int64_t losses() const { return in_a_row_; }
  int64_t rests() const { return rests_; }
  int64_t RestNs(int64_t now_ns) const { return IsQuarantined(now_ns) ? until_ns_ - now_ns : 0; }
  const std::string& why() const { return why_; }

 private:
  int64_t in_a_row_ = 0;    // measurements lost
  int64_t only_trial_ = 0;  // of which all were of this one; 0: of several, or unknown
  int64_t rests_ = 0;       // in a row
  int64_t until_ns_ = 0;
  std::string why_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_HEALTH_H_
