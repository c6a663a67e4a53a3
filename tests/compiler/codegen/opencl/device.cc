#include "tests/compiler/codegen/opencl/device.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "support/status.h"

namespace hone::codegen {
namespace {

// Divides no size of a grid's own accord.
constexpr size_t kLocalSize = 4;

// Releases what it holds at the end of a scope.
template <typename Handle>
class Held {
 public:
  Held(Handle handle, cl_int (*release)(Handle)) : handle_(handle), release_(release) {}
  Held(Held&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), release_(other.release_) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (handle_ != nullptr) release_(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_;
  cl_int (*release_)(Handle);
};

absl::Status Failed(const char* what, cl_int code) {
  return absl::InternalError(fmt::format("{}: error {} of OpenCL", what, code));
}

}  // namespace

struct OpenClDevice::Api {
  void* library = nullptr;
  std::string missing;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  template <typename Function>
  Function* Symbol(Function*, const char* name) {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr) missing = name;
    return reinterpret_cast<Function*>(symbol);
  }

#define HONE_OPENCL_FUNCTION(name) decltype(&::name) name = nullptr
  HONE_OPENCL_FUNCTION(clGetPlatformIDs);
  HONE_OPENCL_FUNCTION(clGetDeviceIDs);
  HONE_OPENCL_FUNCTION(clCreateContext);
  HONE_OPENCL_FUNCTION(clCreateCommandQueue);
  HONE_OPENCL_FUNCTION(clCreateProgramWithSource);
  HONE_OPENCL_FUNCTION(clBuildProgram);
  HONE_OPENCL_FUNCTION(clGetProgramBuildInfo);
  HONE_OPENCL_FUNCTION(clCreateKernel);
  HONE_OPENCL_FUNCTION(clCreateBuffer);
  HONE_OPENCL_FUNCTION(clSetKernelArg);
  HONE_OPENCL_FUNCTION(clEnqueueNDRangeKernel);
  HONE_OPENCL_FUNCTION(clEnqueueReadBuffer);
  HONE_OPENCL_FUNCTION(clFinish);
  HONE_OPENCL_FUNCTION(clReleaseMemObject);
  HONE_OPENCL_FUNCTION(clReleaseKernel);
  HONE_OPENCL_FUNCTION(clReleaseProgram);
  HONE_OPENCL_FUNCTION(clReleaseCommandQueue);
  HONE_OPENCL_FUNCTION(clReleaseContext);
#undef HONE_OPENCL_FUNCTION

  void LoadFunctions() {
#define HONE_OPENCL_LOAD(name) name = Symbol(name, #name)
    HONE_OPENCL_LOAD(clGetPlatformIDs);
    HONE_OPENCL_LOAD(clGetDeviceIDs);
    HONE_OPENCL_LOAD(clCreateContext);
    HONE_OPENCL_LOAD(clCreateCommandQueue);
    HONE_OPENCL_LOAD(clCreateProgramWithSource);
    HONE_OPENCL_LOAD(clBuildProgram);
    HONE_OPENCL_LOAD(clGetProgramBuildInfo);
    HONE_OPENCL_LOAD(clCreateKernel);
    HONE_OPENCL_LOAD(clCreateBuffer);
    HONE_OPENCL_LOAD(clSetKernelArg);
    HONE_OPENCL_LOAD(clEnqueueNDRangeKernel);
    HONE_OPENCL_LOAD(clEnqueueReadBuffer);
    HONE_OPENCL_LOAD(clFinish);
    HONE_OPENCL_LOAD(clReleaseMemObject);
    HONE_OPENCL_LOAD(clReleaseKernel);
    HONE_OPENCL_LOAD(clReleaseProgram);
    HONE_OPENCL_LOAD(clReleaseCommandQueue);
    HONE_OPENCL_LOAD(clReleaseContext);
#undef HONE_OPENCL_LOAD
  }

  using Program = Held<cl_program>;
  using Memory = Held<cl_mem>;

  absl::StatusOr<Program> Build(const std::string& text);
  absl::StatusOr<std::vector<Memory>> Share(std::span<const BufferBytes> memory);
  absl::Status Launch(cl_program program, const opencl::Kernel& kernel,
                      const std::vector<Memory>& buffers);
};

absl::StatusOr<OpenClDevice::Api::Program> OpenClDevice::Api::Build(const std::string& text) {
  const char* source = text.c_str();
  cl_int code = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &code), clReleaseProgram);
  if (code != CL_SUCCESS) return Failed("clCreateProgramWithSource", code);
  const std::string options = ToText(opencl::BuildOptions());
  code = clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  std::string log(1 << 16, '\0');
  size_t length = 0;
  clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                        &length);
  log.resize(length);
  return absl::InvalidArgumentError(fmt::format("error {}: {}\n{}", code, log, text));
}

// Where the device is the processor itself, it works in the memory that it is given.
absl::StatusOr<std::vector<OpenClDevice::Api::Memory>> OpenClDevice::Api::Share(
    std::span<const BufferBytes> memory) {
  std::vector<Memory> shared;
  for (const BufferBytes& buffer : memory) {
    cl_int code = CL_SUCCESS;
    const bool is_empty = buffer.bytes == 0;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (is_empty ? 0 : CL_MEM_USE_HOST_PTR);
    shared.emplace_back(clCreateBuffer(context, flags, is_empty ? 1 : buffer.bytes,
                                       is_empty ? nullptr : buffer.data, &code),
                        clReleaseMemObject);
    if (code != CL_SUCCESS) return Failed("clCreateBuffer", code);
  }
  return shared;
}

absl::Status OpenClDevice::Api::Launch(cl_program program, const opencl::Kernel& kernel,
                                       const std::vector<Memory>& buffers) {
  if (kernel.work_items == 0) return absl::OkStatus();
  cl_int code = CL_SUCCESS;
  const Held<cl_kernel> made(clCreateKernel(program, kernel.entry.c_str(), &code), clReleaseKernel);
  if (code != CL_SUCCESS) return Failed("clCreateKernel", code);
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const cl_mem buffer = buffers[static_cast<size_t>(kernel.arguments[i])].get();
    code = clSetKernelArg(made.get(), static_cast<cl_uint>(i), sizeof(buffer), &buffer);
    if (code != CL_SUCCESS) return Failed("clSetKernelArg", code);
  }
  const auto items = static_cast<size_t>(kernel.work_items);
  const size_t global = (items + kLocalSize - 1) / kLocalSize * kLocalSize;
  code = clEnqueueNDRangeKernel(queue, made.get(), 1, nullptr, &global, &kLocalSize, 0, nullptr,
                                nullptr);
  if (code != CL_SUCCESS) return Failed("clEnqueueNDRangeKernel", code);
  code = clFinish(queue);
  return code == CL_SUCCESS ? absl::OkStatus() : Failed("clFinish", code);
}

OpenClDevice::OpenClDevice() : api_(std::make_unique<Api>()) {}

OpenClDevice::~OpenClDevice() {
  if (api_->queue != nullptr) api_->clReleaseCommandQueue(api_->queue);
  if (api_->context != nullptr) api_->clReleaseContext(api_->context);
}

absl::Status OpenClDevice::Open() {
  setenv("POCL_KERNEL_CACHE", "0", /*replace=*/0);
  api_->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (api_->library == nullptr) return absl::NotFoundError("no libOpenCL.so.1");
  api_->LoadFunctions();
  if (!api_->missing.empty()) {
    return absl::NotFoundError(fmt::format("libOpenCL.so.1 lacks {}", api_->missing));
  }
  cl_platform_id platform = nullptr;
  cl_uint count = 0;
  if (api_->clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0) {
    return absl::NotFoundError("no platform of OpenCL");
  }
  if (api_->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &api_->device, &count) != CL_SUCCESS) {
    return absl::NotFoundError("no device of OpenCL");
  }
  cl_int code = CL_SUCCESS;
  api_->context = api_->clCreateContext(nullptr, 1, &api_->device, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return Failed("clCreateContext", code);
  api_->queue = api_->clCreateCommandQueue(api_->context, api_->device, 0, &code);
  return code == CL_SUCCESS ? absl::OkStatus() : Failed("clCreateCommandQueue", code);
}

// It is left open when the process ends: a platform's own threads may still be there.
absl::StatusOr<OpenClDevice*> OpenClDevice::Get() {
  static auto* const device = new OpenClDevice();
  static const auto* const opened = new absl::Status(device->Open());
  if (!opened->ok()) return *opened;
  return device;
}

absl::Status OpenClDevice::Run(const std::string& program, std::span<const opencl::Kernel> kernels,
                               std::span<const BufferBytes> memory) {
  HONE_ASSIGN_OR_RETURN(const Api::Program built, api_->Build(program));
  HONE_ASSIGN_OR_RETURN(const std::vector<Api::Memory> buffers, api_->Share(memory));
  for (const opencl::Kernel& kernel : kernels) {
    HONE_RETURN_IF_ERROR(api_->Launch(built.get(), kernel, buffers));
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].bytes == 0) continue;
    const cl_int code =
        api_->clEnqueueReadBuffer(api_->queue, buffers[i].get(), CL_TRUE, 0, memory[i].bytes,
                                  memory[i].data, 0, nullptr, nullptr);
    if (code != CL_SUCCESS) return Failed("clEnqueueReadBuffer", code);
  }
  return absl::OkStatus();
}

}  // namespace hone::codegen
