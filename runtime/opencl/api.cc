#include "runtime/opencl/api.h"

#include <dlfcn.h>

#include <mutex>

namespace hone::opencl {
namespace {

constexpr char kLibrary[] = "libOpenCL.so.1";

// Fills the table from the loader's library; false names the function that it lacks.
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

std::string Load(Api& api) {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::string("expected OpenCL's loader, ") + kLibrary +
           ", found none; install it (ocl-icd-libopencl1) and the device's driver";
  }
  Loader loader(library);
  loader.Find(api.GetPlatformIDs, "clGetPlatformIDs");
  loader.Find(api.GetPlatformInfo, "clGetPlatformInfo");
  loader.Find(api.GetDeviceIDs, "clGetDeviceIDs");
  loader.Find(api.GetDeviceInfo, "clGetDeviceInfo");
  loader.Find(api.CreateContext, "clCreateContext");
  loader.Find(api.ReleaseContext, "clReleaseContext");
  loader.Find(api.CreateCommandQueue, "clCreateCommandQueue");
  loader.Find(api.ReleaseCommandQueue, "clReleaseCommandQueue");
  loader.Find(api.CreateBuffer, "clCreateBuffer");
  loader.Find(api.ReleaseMemObject, "clReleaseMemObject");
  loader.Find(api.EnqueueFillBuffer, "clEnqueueFillBuffer");
  loader.Find(api.EnqueueReadBuffer, "clEnqueueReadBuffer");
  loader.Find(api.EnqueueWriteBuffer, "clEnqueueWriteBuffer");
  loader.Find(api.EnqueueCopyBuffer, "clEnqueueCopyBuffer");
  loader.Find(api.CreateProgramWithSource, "clCreateProgramWithSource");
  loader.Find(api.BuildProgram, "clBuildProgram");
  loader.Find(api.GetProgramBuildInfo, "clGetProgramBuildInfo");
  loader.Find(api.ReleaseProgram, "clReleaseProgram");
  loader.Find(api.CreateKernel, "clCreateKernel");
  loader.Find(api.ReleaseKernel, "clReleaseKernel");
  loader.Find(api.SetKernelArg, "clSetKernelArg");
  loader.Find(api.EnqueueNDRangeKernel, "clEnqueueNDRangeKernel");
  loader.Find(api.EnqueueMarkerWithWaitList, "clEnqueueMarkerWithWaitList");
  loader.Find(api.WaitForEvents, "clWaitForEvents");
  loader.Find(api.GetEventProfilingInfo, "clGetEventProfilingInfo");
  loader.Find(api.ReleaseEvent, "clReleaseEvent");
  loader.Find(api.Finish, "clFinish");
  if (loader.missing().empty()) return "";
  return std::string("expected OpenCL 1.2 in ") + kLibrary + ", found no " + loader.missing();
}

}  // namespace

const Api* Api::Get(std::string* error) {
  static Api api;
  static const std::string fault = Load(api);
  if (fault.empty()) return &api;
  *error = fault;
  return nullptr;
}

std::string ErrorName(cl_int code) {
  const auto name = [&]() -> const char* {
    switch (code) {
      case CL_DEVICE_NOT_FOUND:
        return "CL_DEVICE_NOT_FOUND";
      case CL_DEVICE_NOT_AVAILABLE:
        return "CL_DEVICE_NOT_AVAILABLE";
      case CL_COMPILER_NOT_AVAILABLE:
        return "CL_COMPILER_NOT_AVAILABLE";
      case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
      case CL_OUT_OF_RESOURCES:
        return "CL_OUT_OF_RESOURCES";
      case CL_OUT_OF_HOST_MEMORY:
        return "CL_OUT_OF_HOST_MEMORY";
      case CL_BUILD_PROGRAM_FAILURE:
        return "CL_BUILD_PROGRAM_FAILURE";
      case CL_INVALID_VALUE:
        return "CL_INVALID_VALUE";
      case CL_INVALID_BUFFER_SIZE:
        return "CL_INVALID_BUFFER_SIZE";
      case CL_INVALID_BUILD_OPTIONS:
        return "CL_INVALID_BUILD_OPTIONS";
      case CL_INVALID_KERNEL_NAME:
        return "CL_INVALID_KERNEL_NAME";
      case CL_INVALID_KERNEL_ARGS:
        return "CL_INVALID_KERNEL_ARGS";
      case CL_INVALID_WORK_GROUP_SIZE:
        return "CL_INVALID_WORK_GROUP_SIZE";
      case CL_INVALID_GLOBAL_WORK_SIZE:
        return "CL_INVALID_GLOBAL_WORK_SIZE";
      case -1001:
        return "CL_PLATFORM_NOT_FOUND_KHR";
      default:
        return "the code";
    }
  };
  return std::string(name()) + " (" + std::to_string(code) + ")";
}

}  // namespace hone::opencl
