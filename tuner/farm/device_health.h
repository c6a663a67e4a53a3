// Whether a device may be trusted with a trial.
#ifndef HONE_TUNER_FARM_DEVICE_HEALTH_H_
#define HONE_TUNER_FARM_DEVICE_HEALTH_H_

#include <cstdint>
#include <set>
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
  // A measurement of the trial ended because the device was lost; `why` is for people.
  void Lost(const QuarantineRule& rule, int64_t trial, int64_t now_ns, const std::string& why);
  // A measurement was carried through. Returns the trials that were lost since the one before: the
  // device is sound, so they may be to blame.
  std::set<int64_t> Measured();

  // Measurements lost in a row, where all of them were of this one trial; otherwise 0.
  int LostOnlyUnder(int64_t trial) const {
    return lost_.size() == 1 && lost_.count(trial) == 1 ? in_a_row_ : 0;
  }
  bool IsQuarantined(int64_t now_ns) const { return now_ns < until_ns_; }
  // Out of quarantine, and nothing measured since: to be tried with one measurement at a time.
  bool IsOnTrial(int64_t now_ns) const { return until_ns_ > 0 && now_ns >= until_ns_; }
  // Why, and for how long; empty where the device is not in quarantine.
  std::string Reason(int64_t now_ns) const;

 private:
  std::set<int64_t> lost_;  // trials, since the last success
  int in_a_row_ = 0;        // measurements lost
  int quarantines_ = 0;     // in a row
  int64_t until_ns_ = 0;
  std::string why_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_HEALTH_H_
