// What devices have measured and told of themselves since the daemon started, for who asks.
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

// The outcome that a result counts as: of several candidates, of the first that is not ok.
std::string OutcomeOf(const hone::v1::MeasureResult& result);

// It outlives sessions: a worker that dials again goes on. Not thread-safe.
class DeviceHistories {
 public:
  // A device was described by its worker. What says the same as the last time, as every Hello does,
  // is no calibration of its own.
  void Told(const std::string& worker, const hone::v1::Device& device, int64_t now_ns);
  void Settled(const std::string& worker, const std::string& device, const std::string& outcome);
  void Lost(const std::string& worker, const std::string& device);
  DeviceHistory Of(const std::string& worker, const std::string& device) const;
  // Forgets workers that are gone, where there are too many.
  void Forget(const std::function<bool(const std::string& worker)>& is_connected);

 private:
  std::map<std::pair<std::string, std::string>, DeviceHistory> known_;  // by worker and device
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DEVICE_HISTORY_H_
