// The interface that runs and times candidates on a device for their target. The implementation in
// use is the farm's dispatcher.
#ifndef HONE_TUNER_MEASURER_H_
#define HONE_TUNER_MEASURER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"
#include "tuner/device_need.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// Built code. The bytes live as long as somebody holds them; never durable.
struct Artifact {
  std::string digest;  // empty: none
  std::shared_ptr<const std::string> bytes;
  std::string toolchain;  // the toolchain that built it
};

struct MeasureRequest {
  tuning_db::Trial trial;
  std::string target;  // canonical text
  // What else the device must be (DeviceNeed).
  hone::v1::SandboxLevel sandbox = hone::v1::SANDBOX_LEVEL_UNSPECIFIED;
  std::string device_class;
  std::string submitter;  // who shares devices fairly with other submitters
  int64_t job = 0;        // which takes turns with others of the submitter
  // One candidate; in a calibration also its anchor, as the second; in a final all of its
  // finalists.
  std::vector<Artifact> candidates;
  // How many rounds of a final or a calibration; 0: a trial of a search.
  uint32_t rounds = 0;
  Artifact reference;  // without a digest: outputs are not checked
  // The task's default config, for a trial of a search; without a digest: there is none.
  Artifact anchor;
  std::string workload_digest;
  uint64_t seed = 0;
  uint32_t threads = 1;
  hone::v1::TimingPlan timing;
  int64_t run_limit_ns = 0;
  uint64_t memory_limit_bytes = 0;
  int priority = 0;  // greater goes first
  DeviceNeed Need() const { return {target, sandbox, device_class}; }

  // An earlier life of the daemon leased the trial (trial.fence, trial.worker). It is offered to no
  // device; for a grace period the worker may come back with its result. Needs no candidates.
  bool held = false;
};

struct MeasureReport {
  enum class Kind {
    kMeasured,  // `result` has an entry for each candidate
    // A worker held the lease from before a restart and did not come back with the result: the
    // trial has to be built and measured again.
    kLost,
    kPoison,   // the trial took down several workers that ran it
    kSettled,  // the store says that it is settled already: nothing was measured
    // The job is another daemon's by now: nothing was measured, and nothing may be written.
    kForeign,
  };
  Kind kind = Kind::kMeasured;
  int64_t fence = 0;  // of the lease under which it was measured
  std::string worker;
  std::string message;  // of kPoison
  hone::v1::MeasureResult result;
};

// Called from any thread with how a trial was settled, once that is durable. An error means that
// the store failed. The request is over even then; the worker keeps its result and sends it again
// later, and this daemon or the next one settles it.
using SettledCallback = std::function<void(absl::StatusOr<tuning_db::SettleResult> settled)>;

// Called once for each request that is not cancelled. For kMeasured, the callee settles the trial
// under `report.fence` and calls `settled` once that is durable or was refused: only then is the
// worker's result acknowledged. The callback returns without waiting for that. For the other kinds
// `settled` is empty.
using MeasureCallback =
    std::function<void(const MeasureReport& report, const SettledCallback& settled)>;

// Thread-safe. The implementation itself retries after failures of infrastructure (device lost,
// worker gone).
class Measurer {
 public:
  virtual ~Measurer() = default;
  // Returns at once. The lease is taken when a device is free, before anything is offered to it.
  virtual void Measure(MeasureRequest request, MeasureCallback done) = 0;
  // Drops the trial's request, tells its worker, and releases its lease, some time after this call
  // has returned. From then on the request's callback is not called. A no-op for an unknown trial.
  virtual void Cancel(int64_t trial) = 0;
  // Whether a device that takes work now meets the need (its target is canonical text, -threads
  // included). False: a request for it would wait until such a device comes.
  virtual bool Serves(const DeviceNeed& need) const { return true; }
  // The target, in canonical text, of the machine that holds a device for `target`: references are
  // built for it. It is `target` itself where the device is that machine, or no such device is
  // known.
  virtual std::string HostTarget(const std::string& target) const { return target; }
  // How many requests with this need the devices can hold at once; with fewer, some devices idle.
  virtual uint64_t Windows(const DeviceNeed& need) const { return 1; }
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_MEASURER_H_
