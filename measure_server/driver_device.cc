#include "measure_server/driver_device.h"

#include <string>

#include "measure_server/cpu_device.h"
#include "runtime/host.h"
#include "runtime/target_text.h"
#include "support/digest.h"

namespace hone::measure {

namespace v1 = hone::v1;

v1::Device DescribeDriverDevice(const ListedDevice& listed, bool is_emulated) {
  v1::Device device;
  device.set_id(listed.name);
  device.set_kind(KindOf(listed.target) == "cuda" ? v1::DEVICE_KIND_CUDA : v1::DEVICE_KIND_OPENCL);
  device.set_target(listed.target);
  device.set_fingerprint(Sha256Hex(listed.identity + HostIdentity(is_emulated)));
  device.set_threads(1);
  const std::string host = HostTargetText(1);
  device.set_host_target(is_emulated ? AsEmulated(host) : host);
  device.set_sandbox(v1::SANDBOX_LEVEL_CONTAINED);
  Calibrate(&device);
  device.clear_calibrations();  // they would be the host's
  return device;
}

}  // namespace hone::measure
