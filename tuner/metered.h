// Where the time of trials goes: decorators around the builder and the measurer that add up phases.
#ifndef HONE_TUNER_METERED_H_
#define HONE_TUNER_METERED_H_

#include <map>
#include <mutex>
#include <string>

#include "tuner/builder.h"
#include "tuner/measurer.h"

namespace hone::tuner {

// Seconds by phase, summed since the daemon started: "lower", "emit", "optimise", "machine_code",
// "link", "transfer", "sandbox", "check", "timing". Thread-safe.
class PhaseSeconds {
 public:
  void Add(const std::string& phase, int64_t ns);
  std::map<std::string, double> Snapshot() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> seconds_;
};

// Adds what each reply says of its build. Both outlive it.
class MeteredBuilder : public Builder {
 public:
  MeteredBuilder(Builder& builder, PhaseSeconds& seconds) : builder_(builder), seconds_(seconds) {}
  void Build(const hone::v1::BuildBatch& batch, BuildCallback done) override;

 private:
  Builder& builder_;
  PhaseSeconds& seconds_;
};

// Adds what each result says of its measurement, before it is settled. Both outlive it.
class MeteredMeasurer : public Measurer {
 public:
  MeteredMeasurer(Measurer& measurer, PhaseSeconds& seconds)
      : measurer_(measurer), seconds_(seconds) {}
  void Measure(MeasureRequest request, MeasureCallback done) override;
  void Cancel(int64_t trial) override { measurer_.Cancel(trial); }
  bool Serves(const DeviceNeed& need) const override { return measurer_.Serves(need); }
  std::string HostTarget(const std::string& target) const override {
    return measurer_.HostTarget(target);
  }
  uint64_t Windows(const DeviceNeed& need) const override { return measurer_.Windows(need); }

 private:
  Measurer& measurer_;
  PhaseSeconds& seconds_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_METERED_H_
