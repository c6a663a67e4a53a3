#include "tuner/farm/device_history.h"

#include <algorithm>
#include <cstddef>

#include "tuner/measure_record.h"
#include "tuning_db/types.h"

namespace hone::tuner {
namespace {

constexpr size_t kMostCalibrations = 16;
// Workers that are gone and those that are connected count together.
constexpr size_t kMostKnownDevices = 4096;

}  // namespace

std::string OutcomeOf(const hone::v1::MeasureResult& result) {
  const auto failed = std::find_if(
      result.candidates().begin(), result.candidates().end(),
      [](const auto& candidate) { return candidate.outcome() != hone::v1::MEASURE_OUTCOME_OK; });
  const bool is_ok = failed == result.candidates().end();
  return std::string(Name(is_ok ? tuning_db::Outcome::kOk : ToOutcome(failed->outcome())));
}

void DeviceHistories::Told(const std::string& worker, const hone::v1::Device& device,
                           int64_t now_ns) {
  auto& calibrations = known_[{worker, device.id()}].calibrations;
  // A pass of the loop never takes the same time to the last digit twice.
  if (!calibrations.empty() && calibrations.back().calibrator_ns == device.calibrator_ns()) return;
  calibrations.push_back({now_ns,
                          device.calibrator_ns(),
                          {device.calibrations().begin(), device.calibrations().end()}});
  if (calibrations.size() > kMostCalibrations) calibrations.pop_front();
}

void DeviceHistories::Settled(const std::string& worker, const std::string& device,
                              const std::string& outcome) {
  (*known_[{worker, device}].tally.mutable_settled())[outcome] += 1;
}

void DeviceHistories::Lost(const std::string& worker, const std::string& device) {
  hone::v1::DeviceTally& tally = known_[{worker, device}].tally;
  tally.set_lost(tally.lost() + 1);
}

DeviceHistory DeviceHistories::Of(const std::string& worker, const std::string& device) const {
  const auto it = known_.find({worker, device});
  return it == known_.end() ? DeviceHistory() : it->second;
}

void DeviceHistories::Forget(const std::function<bool(const std::string& worker)>& is_connected) {
  if (known_.size() < kMostKnownDevices) return;
  std::erase_if(known_, [&](const auto& item) { return !is_connected(item.first.first); });
}

}  // namespace hone::tuner
