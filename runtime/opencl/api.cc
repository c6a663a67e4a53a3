#include "runtime/opencl/api.h"

#include <dlfcn.h>

#include "runtime/library_functions.h"

namespace hone::opencl {
namespace {

constexpr char kLibrary[] = "libOpenCL.so.1";

std::string Load(Api& api) {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::string("expected OpenCL's loader, ") + kLibrary +
           ", found none; install it (ocl-icd-libopencl1) and the device's driver";
  }
  LibraryFunctions functions(library);
  functions.Find(api.GetPlatformIDs, "clGetPlatformIDs");
  functions.Find(api.GetPlatformInfo, "clGetPlatformInfo");
  functions.Find(api.GetDeviceIDs, "clGetDeviceIDs");
  functions.Find(api.GetDeviceInfo, "clGetDeviceInfo");
  functions.Find(api.CreateContext, "clCreateContext");
  functions.Find(api.ReleaseContext, "clReleaseContext");
  functions.Find(api.CreateCommandQueue, "clCreateCommandQueue");
  functions.Find(api.ReleaseCommandQueue, "clReleaseCommandQueue");
  functions.Find(api.CreateBuffer, "clCreateBuffer");
  functions.Find(api.ReleaseMemObject, "clReleaseMemObject");
  functions.Find(api.EnqueueFillBuffer, "clEnqueueFillBuffer");
  functions.Find(api.EnqueueReadBuffer, "clEnqueueReadBuffer");
  functions.Find(api.EnqueueWriteBuffer, "clEnqueueWriteBuffer");
  functions.Find(api.EnqueueCopyBuffer, "clEnqueueCopyBuffer");
  functions.Find(api.CreateProgramWithSource, "clCreateProgramWithSource");
  functions.Find(api.BuildProgram, "clBuildProgram");
  functions.Find(api.GetProgramBuildInfo, "clGetProgramBuildInfo");
  functions.Find(api.ReleaseProgram, "clReleaseProgram");
  functions.Find(api.CreateKernel, "clCreateKernel");
  functions.Find(api.ReleaseKernel, "clReleaseKernel");
  functions.Find(api.SetKernelArg, "clSetKernelArg");
  functions.Find(api.EnqueueNDRangeKernel, "clEnqueueNDRangeKernel");
  functions.Find(api.EnqueueMarkerWithWaitList, "clEnqueueMarkerWithWaitList");
  functions.Find(api.WaitForEvents, "clWaitForEvents");
  functions.Find(api.GetEventProfilingInfo, "clGetEventProfilingInfo");
  functions.Find(api.ReleaseEvent, "clReleaseEvent");
  functions.Find(api.Finish, "clFinish");
  if (functions.missing().empty()) return "";
  return std::string("expected OpenCL 1.2 in ") + kLibrary + ", found no " + functions.missing();
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
