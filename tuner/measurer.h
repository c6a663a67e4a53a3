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
  std::string toolchain;  // that built it
};

struct MeasureRequest {
  tuning_db::Trial trial;
  std::string target;  // canonical text
  // What else the device must be (DeviceNeed).
  hone::v1::SandboxLevel sandbox = hone::v1::SANDBOX_LEVEL_UNSPECIFIED;
  std::string device_class;
  std::string submitter;             // who shares devices fairly with other submitters
  std::vector<Artifact> candidates;  // one and, of a calibration, its anchor; or a final's
  uint32_t rounds = 0;               // 0: of a search
  Artifact reference;                // without a digest: no output check
  Artifact anchor;  // of a trial: the task's default config; without a digest: none
  std::string workload_digest;
  uint64_t seed = 0;
  uint32_t threads = 1;
  hone::v1::TimingPlan timing;
  int64_t run_limit_ns = 0;
  uint64_t memory_limit_bytes = 0;
  int priority = 0;  // greater goes first
  DeviceNeed Need() const { return {target, sandbox, device_class}; }

  // The trial was leased (trial.fence, trial.worker) in an earlier life of the daemon: nothing is
  // offered; for a grace period the worker may come back with its result. No candidates needed.
  bool held = false;
};

struct MeasureReport {
  enum class Kind {
    kMeasured,  // `result` has an entry for each candidate
    kLost,      // a held lease whose worker did not come back with it: build and measure again
    kPoison,    // the trial took several workers down with it
    kSettled,   // the store has it settled already: nothing was measured
    kForeign,   // its job is another daemon's by now: nothing was measured, nor is to be written
  };
  Kind kind = Kind::kMeasured;
  int64_t fence = 0;  // under which it was measured
  std::string worker;
  std::string message;  // of kPoison
  hone::v1::MeasureResult result;
};

// Called from any thread with how a trial was settled, once that is durable. An error means that
// the store failed. The request is over even then; the worker keeps its result and sends it again
// later, and this daemon or the next one settles it.
using SettledCallback = std::function<void(absl::StatusOr<tuning_db::SettleResult> settled)>;

// Called once for each request that is not cancelled. For kMeasured it has the trial settled under
// `report.fence` and calls `settled` when that is durable, or refused: only then is the worker's
// result acknowledged. It does not wait for that. For the other kinds `settled` is empty.
using MeasureCallback =
    std::function<void(const MeasureReport& report, const SettledCallback& settled)>;

// Thread-safe. Infrastructure failures (device lost, worker gone) are retried elsewhere, inside.
class Measurer {
 public:
  virtual ~Measurer() = default;
  // Returns at once. The lease is taken when a device is free, before anything is offered to it.
  virtual void Measure(MeasureRequest request, MeasureCallback done) = 0;
  // The trial's request is dropped; its callback is not called from the time when this has been
  // carried out, its worker is told, and its lease released. A no-op for a trial that is not here.
  virtual void Cancel(int64_t trial) = 0;
  // Whether a device that takes work now can measure code for the target (canonical text, -threads
  // included) and is what is needed. False: a request for it would wait until one comes.
  virtual bool Serves(const DeviceNeed& need) const { return true; }
  // The target of the machine that a device for `target` is in, canonical text: references are
  // built for it. The same as `target` where the device is that machine, or none is known.
  virtual std::string HostTarget(const std::string& target) const { return target; }
  // How many requests with this need can be with devices at once: fewer leave some of them idle.
  virtual uint64_t Windows(const DeviceNeed& need) const { return 1; }
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_MEASURER_H_
