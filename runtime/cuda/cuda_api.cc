#include "runtime/cuda/cuda_api.h"

#include <dlfcn.h>

namespace hone::cuda {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

// Fills the table from the driver's library, and remembers the first function that it lacks.
class Loader {
 public:
  explicit Loader(void* library) : library_(library) {}

  template <typename Function>
  void Find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* const library_;
  std::string missing_;
};

// The names have the versions that these signatures came with.
std::string Find(void* library, CudaApi& api) {
  Loader loader(library);
  loader.Find(api.Init, "cuInit");
  loader.Find(api.GetErrorName, "cuGetErrorName");
  loader.Find(api.DriverGetVersion, "cuDriverGetVersion");
  loader.Find(api.DeviceGetCount, "cuDeviceGetCount");
  loader.Find(api.DeviceGet, "cuDeviceGet");
  loader.Find(api.DeviceGetName, "cuDeviceGetName");
  loader.Find(api.DeviceGetAttribute, "cuDeviceGetAttribute");
  loader.Find(api.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  loader.Find(api.DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  loader.Find(api.CtxPushCurrent, "cuCtxPushCurrent_v2");
  loader.Find(api.CtxPopCurrent, "cuCtxPopCurrent_v2");
  loader.Find(api.MemAlloc, "cuMemAlloc_v2");
  loader.Find(api.MemFree, "cuMemFree_v2");
  loader.Find(api.MemsetD8Async, "cuMemsetD8Async");
  loader.Find(api.MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  loader.Find(api.MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  loader.Find(api.MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  loader.Find(api.StreamCreate, "cuStreamCreate");
  loader.Find(api.StreamDestroy, "cuStreamDestroy_v2");
  loader.Find(api.StreamSynchronize, "cuStreamSynchronize");
  loader.Find(api.StreamBeginCapture, "cuStreamBeginCapture_v2");
  loader.Find(api.StreamEndCapture, "cuStreamEndCapture");
  loader.Find(api.GraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
  loader.Find(api.GraphLaunch, "cuGraphLaunch");
  loader.Find(api.GraphExecDestroy, "cuGraphExecDestroy");
  loader.Find(api.GraphDestroy, "cuGraphDestroy");
  loader.Find(api.EventCreate, "cuEventCreate");
  loader.Find(api.EventRecord, "cuEventRecord");
  loader.Find(api.EventElapsedTime, "cuEventElapsedTime");
  loader.Find(api.EventDestroy, "cuEventDestroy_v2");
  loader.Find(api.ModuleLoadDataEx, "cuModuleLoadDataEx");
  loader.Find(api.ModuleUnload, "cuModuleUnload");
  loader.Find(api.ModuleGetFunction, "cuModuleGetFunction");
  loader.Find(api.FuncSetAttribute, "cuFuncSetAttribute");
  loader.Find(api.LaunchKernel, "cuLaunchKernel");
  return loader.missing();
}

std::string Load(CudaApi& api) {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::string("expected NVIDIA's driver, ") + kLibrary + ", found none; install it";
  }
  const std::string missing = Find(library, api);
  if (!missing.empty()) {
    return std::string("expected a driver of CUDA 11.4 or newer in ") + kLibrary + ", found no " +
           missing + "; install a newer one";
  }
  const Result result = api.Init(0);
  if (result == kSuccess) return "";
  return "expected NVIDIA's driver to start, found " + api.NameOf(result) +
         "; see whether this machine has a GPU and the process may use /dev/nvidia*";
}

}  // namespace

const CudaApi* CudaApi::Get(std::string* error) {
  static CudaApi api;
  static const std::string fault = Load(api);
  if (fault.empty()) return &api;
  *error = fault;
  return nullptr;
}

std::string CudaApi::NameOf(Result result) const {
  const char* name = nullptr;
  if (GetErrorName(result, &name) != kSuccess || name == nullptr) name = "the code";
  return std::string(name) + " (" + std::to_string(result) + ")";
}

}  // namespace hone::cuda
