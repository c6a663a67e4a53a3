#include "tests/compiler/codegen/opencl/run_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device.h"
#include "runtime/module_abi.h"
#include "runtime/opencl/api.h"
#include "support/status.h"

namespace hone::codegen {
namespace {

using hone::opencl::Api;
using hone::opencl::ErrorName;
using hone::opencl::OpenClDevice;
using hone::opencl::Place;

// It divides hardly any size of a grid.
constexpr size_t kGroupItems = 4;

// Floats of it are NaN.
constexpr uint8_t kUntouched = 0xFF;

// A copy of a buffer on the device, in a block with bytes before and after it.
class GuardedCopy {
 public:
  static absl::StatusOr<GuardedCopy> Make(OpenClDevice& device, const BufferBytes& buffer,
                                          size_t offset_bytes) {
    GuardedCopy copy(device, buffer, offset_bytes);
    std::vector<uint8_t> block(copy.BlockBytes(), kUntouched);
    copy.memory_ = device.Allocate(block.size());
    if (copy.memory_ == nullptr) return absl::ResourceExhaustedError("no memory on the device");
    if (buffer.bytes > 0) std::memcpy(block.data() + offset_bytes, buffer.data, buffer.bytes);
    device.CopyIn(copy.memory_->data(), block.data(), block.size());
    return copy;
  }

  Place place() const { return device_->Find(static_cast<char*>(memory_->data()) + offset_bytes_); }

  absl::Status CopyBack() const {
    std::vector<uint8_t> block(BlockBytes());
    device_->CopyOut(block.data(), memory_->data(), block.size());
    const auto first = block.begin() + static_cast<ptrdiff_t>(offset_bytes_);
    const auto end = first + static_cast<ptrdiff_t>(buffer_.bytes);
    const auto untouched = [](uint8_t byte) { return byte == kUntouched; };
    if (!std::all_of(block.begin(), first, untouched) ||
        !std::all_of(end, block.end(), untouched)) {
      return absl::OutOfRangeError("a kernel wrote beyond a buffer");
    }
    if (buffer_.bytes > 0) std::memcpy(buffer_.data, &*first, buffer_.bytes);
    return absl::OkStatus();
  }

 private:
  GuardedCopy(OpenClDevice& device, const BufferBytes& buffer, size_t offset_bytes)
      : device_(&device), buffer_(buffer), offset_bytes_(offset_bytes) {}
  size_t BlockBytes() const { return offset_bytes_ + buffer_.bytes + HONE_BUFFER_ALIGNMENT; }

  OpenClDevice* device_;
  BufferBytes buffer_;
  size_t offset_bytes_;
  std::unique_ptr<DeviceMemory> memory_;
};

// A program or kernel, released at the end of its scope.
template <typename Handle>
using Held = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int (*)(Handle)>;

absl::Status Failed(const char* operation, cl_int code) {
  return absl::InternalError(fmt::format("{}: {}", operation, ErrorName(code)));
}

absl::StatusOr<Held<cl_program>> Build(const OpenClDevice& device, const std::string& text) {
  const Api& api = device.api();
  const char* source = text.c_str();
  cl_int code = CL_SUCCESS;
  Held<cl_program> program(
      api.CreateProgramWithSource(device.context(), 1, &source, nullptr, &code),
      api.ReleaseProgram);
  if (code != CL_SUCCESS) return Failed("making a program", code);
  const cl_device_id id = device.id();
  const std::string options =
      ToText(opencl::BuildOptions{.rounds_division = device.limits().rounds_division});
  code = api.BuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  std::string log(1 << 16, '\0');
  size_t log_bytes = 0;
  api.GetProgramBuildInfo(program.get(), id, CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                          &log_bytes);
  log.resize(std::min(log_bytes, log.size()));
  return absl::InvalidArgumentError(fmt::format("{}: {}\n{}", ErrorName(code), log, text));
}

absl::Status Launch(OpenClDevice& device, cl_program program, const opencl::Kernel& kernel,
                    std::span<const GuardedCopy> copies) {
  if (kernel.work_items == 0) return absl::OkStatus();
  const Api& api = device.api();
  cl_int code = CL_SUCCESS;
  const Held<cl_kernel> made(api.CreateKernel(program, kernel.entry.c_str(), &code),
                             api.ReleaseKernel);
  if (code != CL_SUCCESS) return Failed("making a kernel", code);
  cl_uint argument = 0;
  for (const int buffer : kernel.arguments) {
    const Place place = copies[static_cast<size_t>(buffer)].place();
    code = api.SetKernelArg(made.get(), argument++, sizeof(place.buffer), &place.buffer);
    if (code != CL_SUCCESS) return Failed("setting a buffer", code);
    code =
        api.SetKernelArg(made.get(), argument++, sizeof(place.offset_bytes), &place.offset_bytes);
    if (code != CL_SUCCESS) return Failed("setting an offset", code);
  }
  const auto items = static_cast<size_t>(kernel.work_items);
  const size_t group =
      kernel.group_items > 0 ? static_cast<size_t>(kernel.group_items) : kGroupItems;
  const size_t global = (items + group - 1) / group * group;
  code = api.EnqueueNDRangeKernel(device.queue(), made.get(), 1, nullptr, &global, &group, 0,
                                  nullptr, nullptr);
  if (code != CL_SUCCESS) return Failed("launching", code);
  code = api.Finish(device.queue());
  return code == CL_SUCCESS ? absl::OkStatus() : Failed("running", code);
}

}  // namespace

OpenClDevice* FindOpenClDevice(std::string* why) {
  struct Opened {
    std::shared_ptr<OpenClDevice> device;
    std::string error;
  };
  // A platform's own threads may still be there when the process ends.
  static const auto* const opened = [] {
    setenv("POCL_KERNEL_CACHE", "0", /*replace=*/0);
    auto* const made = new Opened();
    made->device = OpenClDevice::Make(0, &made->error);
    return made;
  }();
  *why = opened->error;
  return opened->device.get();
}

absl::Status RunKernels(OpenClDevice& device, const std::string& program,
                        std::span<const opencl::Kernel> kernels,
                        std::span<const BufferBytes> buffers) {
  HONE_ASSIGN_OR_RETURN(const Held<cl_program> built, Build(device, program));
  std::vector<GuardedCopy> copies;
  for (const BufferBytes& buffer : buffers) {
    const size_t offset_bytes = copies.size() % 3 * HONE_BUFFER_ALIGNMENT;
    HONE_ASSIGN_OR_RETURN(GuardedCopy copy, GuardedCopy::Make(device, buffer, offset_bytes));
    copies.push_back(std::move(copy));
  }
  for (const opencl::Kernel& kernel : kernels) {
    HONE_RETURN_IF_ERROR(Launch(device, built.get(), kernel, copies));
  }
  for (const GuardedCopy& copy : copies) HONE_RETURN_IF_ERROR(copy.CopyBack());
  return device.has_failed() ? absl::InternalError(device.error()) : absl::OkStatus();
}

}  // namespace hone::codegen
