#include "runtime/cuda/cuda_api.h"

#include <dlfcn.h>

#include "runtime/library_functions.h"

namespace hone::cuda {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

// The names have the versions that these signatures came with.
std::string Find(void* library, CudaApi& api) {
  LibraryFunctions functions(library);
  functions.Find(api.Init, "cuInit");
  functions.Find(api.GetErrorName, "cuGetErrorName");
  functions.Find(api.DriverGetVersion, "cuDriverGetVersion");
  functions.Find(api.DeviceGetCount, "cuDeviceGetCount");
  functions.Find(api.DeviceGet, "cuDeviceGet");
  functions.Find(api.DeviceGetName, "cuDeviceGetName");
  functions.Find(api.DeviceGetAttribute, "cuDeviceGetAttribute");
  functions.Find(api.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  functions.Find(api.DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  functions.Find(api.CtxPushCurrent, "cuCtxPushCurrent_v2");
  functions.Find(api.CtxPopCurrent, "cuCtxPopCurrent_v2");
  functions.Find(api.MemAlloc, "cuMemAlloc_v2");
  functions.Find(api.MemFree, "cuMemFree_v2");
  functions.Find(api.MemsetD8Async, "cuMemsetD8Async");
  functions.Find(api.MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  functions.Find(api.MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  functions.Find(api.MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  functions.Find(api.StreamCreate, "cuStreamCreate");
  functions.Find(api.StreamDestroy, "cuStreamDestroy_v2");
  functions.Find(api.StreamSynchronize, "cuStreamSynchronize");
  functions.Find(api.GraphCreate, "cuGraphCreate");
  functions.Find(api.GraphAddKernelNode, "cuGraphAddKernelNode");
  functions.Find(api.GraphAddEmptyNode, "cuGraphAddEmptyNode");
  functions.FindOptional(api.GraphAddDependencies, "cuGraphAddDependencies_v2");
  functions.Find(api.GraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
  functions.Find(api.GraphLaunch, "cuGraphLaunch");
  functions.Find(api.GraphExecDestroy, "cuGraphExecDestroy");
  functions.Find(api.GraphDestroy, "cuGraphDestroy");
  functions.Find(api.EventCreate, "cuEventCreate");
  functions.Find(api.EventRecord, "cuEventRecord");
  functions.Find(api.EventElapsedTime, "cuEventElapsedTime");
  functions.Find(api.EventDestroy, "cuEventDestroy_v2");
  functions.Find(api.ModuleLoadDataEx, "cuModuleLoadDataEx");
  functions.Find(api.ModuleUnload, "cuModuleUnload");
  functions.Find(api.ModuleGetFunction, "cuModuleGetFunction");
  functions.Find(api.FuncSetAttribute, "cuFuncSetAttribute");
  functions.Find(api.LaunchKernel, "cuLaunchKernel");
  return functions.missing();
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
