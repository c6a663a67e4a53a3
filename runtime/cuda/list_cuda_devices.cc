#include "runtime/cuda/list_cuda_devices.h"

#include <fstream>

#include "runtime/cuda/cuda_api.h"

namespace hone::cuda {
namespace {

// Those that targets take (compiler/ir/cuda_target.cc), ascending.
constexpr int kCapabilities[] = {70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 120};
// From here on an architecture has instructions that no later one has.
constexpr int kFirstOfItsOwn = 90;

int Attribute(const CudaApi& api, int attribute, DeviceId device) {
  int value = 0;
  return api.DeviceGetAttribute(&value, attribute, device) == kSuccess ? value : 0;
}

std::string TargetOf(const CudaApi& api, DeviceId device) {
  std::string text = "cuda -arch=" + ArchOf(Attribute(api, kComputeCapabilityMajor, device),
                                            Attribute(api, kComputeCapabilityMinor, device));
  const int multiprocessors = Attribute(api, kMultiprocessorCount, device);
  const int l2_bytes = Attribute(api, kL2CacheSize, device);
  if (multiprocessors > 0) text += " -multiprocessors=" + std::to_string(multiprocessors);
  if (l2_bytes > 0) text += " -l2=" + std::to_string(l2_bytes);
  return text;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14 ...": what cuDriverGetVersion says is
// the same for all drivers of a branch.
std::string KernelModuleVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

// The card's name and the version of the driver, whose compiler makes the code.
std::string IdentityOf(const CudaApi& api, DeviceId device) {
  char name[256] = "";
  int version = 0;
  api.DeviceGetName(name, sizeof(name), device);
  api.DriverGetVersion(&version);
  return std::string(name) + "\ndriver " + std::to_string(version) + "\n" + KernelModuleVersion() +
         "\n";
}

}  // namespace

std::string ArchOf(int major, int minor) {
  const int capability = 10 * major + minor;
  int known = kCapabilities[0];
  for (const int one : kCapabilities) {
    if (one <= capability) known = one;
  }
  const bool has_its_own = known == capability && known >= kFirstOfItsOwn;
  return "sm_" + std::to_string(known) + (has_its_own ? "a" : "");
}

std::vector<ListedDevice> ListDevices() {
  std::string error;
  const CudaApi* const api = CudaApi::Get(&error);
  int count = 0;
  if (api == nullptr || api->DeviceGetCount(&count) != kSuccess) return {};
  std::vector<ListedDevice> listed;
  for (int number = 0; number < count; ++number) {
    DeviceId device = 0;
    if (api->DeviceGet(&device, number) != kSuccess) continue;
    // Code is made for Volta and later cards.
    if (Attribute(*api, kComputeCapabilityMajor, device) < 7) continue;
    listed.push_back({.name = "cuda:" + std::to_string(number),
                      .target = TargetOf(*api, device),
                      .identity = IdentityOf(*api, device)});
  }
  return listed;
}

}  // namespace hone::cuda
