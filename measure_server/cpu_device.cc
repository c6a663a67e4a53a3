#include "measure_server/cpu_device.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "measure_server/calibrator.h"
#include "measure_server/core_list.h"
#include "runtime/host.h"
#include "runtime/target_text.h"
#include "support/digest.h"

namespace hone::measure {
namespace {

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

std::string HostIdentity(bool is_emulated) {
  const int online = OnlineCoreCount();
  const std::string target = HostTargetText(online > 0 ? online : HostCoreCount());
  return ProcessorText() + (is_emulated ? AsEmulated(target) : target);
}

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
  device.set_fingerprint(Sha256Hex(HostIdentity(is_emulated)));
  device.set_threads(static_cast<uint32_t>(used));
  Calibrate(&device);
  return device;
}

}  // namespace hone::measure
