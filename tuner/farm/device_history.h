// Keeps what devices have measured and reported since the daemon started, for lists of workers.
#ifndef HONE_TUNER_FARM_DEVICE_HISTORY_H_
#define HONE_TUNER_FARM_DEVICE_HISTORY_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

struct DeviceHistory {
  struct Calibration {
    int64_t told_ns = 0;
    double calibrator_ns = 0;
    std::vector<hone::v1::DeviceCalibration> loops;
  };
  hone::v1::DeviceTally tally;
  std::deque<Calibration> calibrations;  // oldest first
};

// The outcome that a result is counted as: the first one that is not ok, if there are several
// candidates.
std::string OutcomeOf(const hone::v1::MeasureResult& result);

// The histories outlive sessions, so that one goes on when its worker dials again. Not thread-safe.
class DeviceHistories {
 public:
  // Notes that the worker described a device. A description that repeats the last one, as a Hello
  // does, does not count as a new calibration.
  void Told(const std::string& worker, const hone::v1::Device& device, int64_t now_ns);
  void Settled(const std::string& worker, const std::string& device, const std::string& outcome);
  void Lost(const std::string& worker, const std::string& device);
  DeviceHistory Of(const std::string& worker, const std::string& device) const;
  // Forgets workers that are gone if there are too many histories.
  void Forget(const std::function<bool(const std::string& worker)>& is_connected);

 private:
  std::map<std::pair<std::string, std::string>, DeviceHistory> known_;  // by worker and device
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_HISTORY_H_
