// Decorators around the builder and the measurer that add up where the time of trials goes.
#ifndef HONE_TUNER_METERED_H_
#define HONE_TUNER_METERED_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"
#include "support/histogram.h"
#include "tuner/builder.h"
#include "tuner/measurer.h"

namespace hone::tuner {

// Seconds by phase, summed since the daemon started: "lower", "emit", "optimise", "machine_code",
// "link", "transfer", "sandbox", "check", "timing". Thread-safe.
class PhaseSeconds {
 public:
  using Seconds = std::map<std::string, double>;

  void Add(int64_t job, const std::string& phase, int64_t ns);
  Seconds Snapshot() const;
  // What was spent on the job. It is known for the newest kMostJobs jobs only.
  Seconds OfJob(int64_t job) const;

  static constexpr size_t kMostJobs = 1000;

 private:
  mutable std::mutex mutex_;
  Seconds seconds_;
  std::map<int64_t, Seconds> by_job_;
};

// How builds ended, and how long they took. Thread-safe.
class BuildCounts {
 public:
  struct Totals {
    size_t open = 0;  // asked for and not answered
    // By outcome; "builder_failed" where the builder gave none.
    std::map<std::string, uint64_t> ended;
    Histogram::Totals seconds;
  };
  void Begin(size_t count);
  void End(const absl::StatusOr<hone::v1::BuildReply>& reply);
  Totals Read() const;

 private:
  mutable std::mutex mutex_;
  size_t open_ = 0;
  std::map<std::string, uint64_t> ended_;
  Histogram seconds_{LongTimes()};
};

// Adds up what each reply says of its build. The objects given to the constructor outlive it.
class MeteredBuilder : public Builder {
 public:
  MeteredBuilder(Builder& builder, PhaseSeconds& seconds, BuildCounts& counts)
      : builder_(builder), seconds_(seconds), counts_(counts) {}
  void Build(const hone::v1::BuildBatch& batch, BuildCallback done) override;

 private:
  Builder& builder_;
  PhaseSeconds& seconds_;
  BuildCounts& counts_;
};

// Adds up what each result says of its measurement, before that is settled. The objects given to
// the constructor outlive it.
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
