// The devices that a worker offers, and the zygotes that measure on them.
#ifndef HONE_MEASURE_SERVER_WORKER_DEVICES_H_
#define HONE_MEASURE_SERVER_WORKER_DEVICES_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"
#include "measure_server/contained_device.h"
#include "measure_server/measurer.h"
#include "measure_server/run_protocol.h"
#include "measure_server/sandbox.h"
#include "measure_server/zygote.h"
#include "support/clock.h"

namespace hone::measure {

// The devices of one worker take turns, because they share the host's zygote, which runs
// references, and each needs an undisturbed thread of the host. To this end, all of them name the
// same resource (Exclude in device_queue.h). Movable.
class WorkerDevices {
 public:
  struct Options {
    std::vector<std::string> names = {kHostDevice};  // as hone::FindDevice takes them
    int threads = 0;                                 // of the processor; 0: all
    std::string target;  // the target that the processor is offered for; empty: its own
    bool is_emulated = false;
    SandboxLevel sandbox = SandboxLevel::kStrict;  // of candidates on the processor
    // How many candidates GPUs of CUDA load ahead at most; nullopt: kMostAhead (load_ahead.h).
    std::optional<uint32_t> ahead;
  };
  // Call it while the process has one thread; it still has only one afterwards. kNotFound if there
  // is no such device, with a list of those that there are; kInvalidArgument if a device is named
  // twice; kUnavailable if candidates cannot open a device.
  static absl::StatusOr<WorkerDevices> Start(const Options& options);

  const std::vector<hone::v1::Device>& devices() const { return devices_; }
  // `device` must be one of devices(). This and the clock must outlive the measurer.
  std::unique_ptr<Measurer> MeasurerFor(const hone::v1::Device& device, const Clock* clock);
  // How many candidates the device loads while one is measured, by CandidatesAheadOf and the cores
  // that this thread may use.
  uint32_t AheadOf(const hone::v1::Device& device) const;
  // The largest number of cores that a measurement takes.
  int cores() const;

 private:
  absl::Status AddDriverDevices(const Options& options);

  std::optional<uint32_t> ahead_;  // of the options
  std::vector<hone::v1::Device> devices_;
  std::unique_ptr<Zygote> host_;
  std::map<std::string, ContainedDevice> contained_;  // by the device's id
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_WORKER_DEVICES_H_
