#include "runtime/find_device.h"

#include <charconv>
#include <optional>
#include <utility>

#include "runtime/cpu_device.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/list_cuda_devices.h"
#include "runtime/device_match/device_match.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/list_devices.h"
#include "runtime/target_text.h"
#include "runtime/thread_team.h"

namespace hone {
namespace {

// The number behind the prefix; nullopt where the name is not of that form.
std::optional<int> NumberIn(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.starts_with('-')) return std::nullopt;
  int number = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (fault != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// The first device that measures for the target; the first of its kind where none does. No driver
// of another kind is loaded.
std::string BestFor(std::string_view target) {
  const std::string_view kind = KindOf(target);
  std::vector<ListedDevice> listed;
  if (kind == "cuda") listed = cuda::ListDevices();
  if (kind == "opencl") listed = opencl::ListDevices();
  for (const ListedDevice& device : listed) {
    if (CanMeasure({device.target, 1}, target)) return device.name;
  }
  return std::string(kind);
}

}  // namespace

std::shared_ptr<Device> FindDevice(const std::string& name, std::string_view target, int threads,
                                   std::string* error) {
  const std::string_view kind = KindOf(target);
  const std::string wanted = !name.empty() ? name : kind == "llvm" ? "cpu" : BestFor(target);
  if (wanted == "cpu") {
    return std::make_shared<CpuDevice>(std::make_shared<ThreadTeam>(threads));
  }
  if (wanted == "opencl") return opencl::OpenClDevice::Make(0, error);
  if (const std::optional<int> number = NumberIn(wanted, "opencl:")) {
    return opencl::OpenClDevice::Make(*number, error);
  }
  if (wanted == "cuda") return cuda::CudaDevice::Make(0, error);
  if (const std::optional<int> number = NumberIn(wanted, "cuda:")) {
    return cuda::CudaDevice::Make(*number, error);
  }
  *error =
      "expected a device such as \"cpu\", \"cuda:0\" or \"opencl:0\", found \"" + wanted + "\"";
  return nullptr;
}

std::vector<ListedDevice> ListDevices() {
  std::vector<ListedDevice> all = cuda::ListDevices();
  for (ListedDevice& device : opencl::ListDevices()) all.push_back(std::move(device));
  return all;
}

}  // namespace hone
