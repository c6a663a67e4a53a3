#include "measure_server/cpu_device.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "measure_server/anchored_measurer.h"
#include "measure_server/calibrator.h"
#include "measure_server/core_list.h"
#include "measure_server/cpu_measurer.h"
#include "measure_server/deadline_measurer.h"
#include "measure_server/reference_measurer.h"
#include "measure_server/requirements_measurer.h"
#include "runtime/host.h"
#include "runtime/target_text.h"
#include "support/digest.h"

namespace hone::measure {
namespace {

constexpr uint64_t kReferenceCacheBytes = uint64_t{256} << 20;

// What the system says of its first processor, apart from what changes while it runs.
std::string ProcessorText() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* key : {"vendor_id", "cpu family", "model", "stepping", "CPU implementer",
                            "CPU part", "CPU variant", "CPU revision"}) {
      if (line.starts_with(key)) text += line + "\n";
    }
  }
  return text;
}

}  // namespace

void Calibrate(hone::v1::Device* device) {
  constexpr size_t kPasses = 51;
  std::vector<double> passes;
  for (size_t pass = 0; pass < kPasses; ++pass) passes.push_back(RunCalibrator());
  std::sort(passes.begin(), passes.end());
  device->set_calibrator_ns(passes[kPasses / 2]);
  device->clear_calibrations();
  hone::v1::DeviceCalibration& compute = *device->add_calibrations();
  compute.set_loop("compute");
  compute.set_median_ns(passes[kPasses / 2]);
  compute.set_spread((passes[kPasses * 9 / 10] - passes[kPasses / 10]) / passes[kPasses / 2]);
}

hone::v1::Device DescribeCpu(int threads, const std::string& target, bool is_emulated) {
  const auto as_it_is = [is_emulated](const std::string& text) {
    return is_emulated ? AsEmulated(text) : text;
  };
  const int cores = HostCoreCount();
  const int used = threads <= 0 ? cores : std::min(threads, cores);
  hone::v1::Device device;
  device.set_id("cpu0");
  device.set_kind(hone::v1::DEVICE_KIND_CPU);
  device.set_target(as_it_is(target.empty()
                                 ? HostTargetText(used)
                                 : WithoutThreads(target) + " -threads=" + std::to_string(used)));
  // All its cores, whichever of them this process may use: who else may run beside a measurement is
  // part of the machine.
  const int online = OnlineCoreCount();
  device.set_fingerprint(
      Sha256Hex(ProcessorText() + as_it_is(HostTargetText(online > 0 ? online : cores))));
  device.set_threads(static_cast<uint32_t>(used));
  Calibrate(&device);
  return device;
}

// What is refused costs nothing; the time of a lease counts all the rest; and the time that an
// anchor takes is without that of a reference.
std::unique_ptr<Measurer> MakeCpuMeasurer(const hone::v1::Device& device, CandidateRunner* runner,
                                          const Clock* clock) {
  std::unique_ptr<Measurer> measurer = std::make_unique<CpuMeasurer>(runner);
  measurer = std::make_unique<AnchoredMeasurer>(clock, std::move(measurer));
  measurer = std::make_unique<ReferenceMeasurer>(runner, kReferenceCacheBytes, std::move(measurer));
  measurer = std::make_unique<DeadlineMeasurer>(std::move(measurer));
  return std::make_unique<RequirementsMeasurer>(device, std::move(measurer));
}

}  // namespace hone::measure
