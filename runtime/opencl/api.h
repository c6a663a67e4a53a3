// The functions of OpenCL 1.2, loaded at run time. Hone links nothing of OpenCL, so models for
// other devices run on machines without it.
#ifndef HONE_RUNTIME_OPENCL_API_H_
#define HONE_RUNTIME_OPENCL_API_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace hone::opencl {

// The OpenCL functions that Hone's runtime calls.
struct Api {
  // The first call loads libOpenCL.so.1, which stays loaded. Null with a sentence in *error if
  // there is no such library. Thread-safe.
  static const Api* Get(std::string* error);

  decltype(&::clGetPlatformIDs) GetPlatformIDs;
  decltype(&::clGetPlatformInfo) GetPlatformInfo;
  decltype(&::clGetDeviceIDs) GetDeviceIDs;
  decltype(&::clGetDeviceInfo) GetDeviceInfo;
  decltype(&::clCreateContext) CreateContext;
  decltype(&::clReleaseContext) ReleaseContext;
  decltype(&::clCreateCommandQueue) CreateCommandQueue;
  decltype(&::clReleaseCommandQueue) ReleaseCommandQueue;
  decltype(&::clCreateBuffer) CreateBuffer;
  decltype(&::clReleaseMemObject) ReleaseMemObject;
  decltype(&::clEnqueueFillBuffer) EnqueueFillBuffer;
  decltype(&::clEnqueueReadBuffer) EnqueueReadBuffer;
  decltype(&::clEnqueueWriteBuffer) EnqueueWriteBuffer;
  decltype(&::clEnqueueCopyBuffer) EnqueueCopyBuffer;
  decltype(&::clCreateProgramWithSource) CreateProgramWithSource;
  decltype(&::clBuildProgram) BuildProgram;
  decltype(&::clGetProgramBuildInfo) GetProgramBuildInfo;
  decltype(&::clReleaseProgram) ReleaseProgram;
  decltype(&::clCreateKernel) CreateKernel;
  decltype(&::clReleaseKernel) ReleaseKernel;
  decltype(&::clSetKernelArg) SetKernelArg;
  decltype(&::clEnqueueNDRangeKernel) EnqueueNDRangeKernel;
  decltype(&::clEnqueueMarkerWithWaitList) EnqueueMarkerWithWaitList;
  decltype(&::clWaitForEvents) WaitForEvents;
  decltype(&::clGetEventProfilingInfo) GetEventProfilingInfo;
  decltype(&::clReleaseEvent) ReleaseEvent;
  decltype(&::clFinish) Finish;
};

// The name and number of an error: "CL_OUT_OF_RESOURCES (-5)".
std::string ErrorName(cl_int code);

}  // namespace hone::opencl

#endif  // HONE_RUNTIME_OPENCL_API_H_
