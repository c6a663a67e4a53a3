#include "runtime/opencl/device.h"

#include <algorithm>
#include <utility>

#include "runtime/memory.h"
#include "runtime/missing_device.h"
#include "runtime/opencl/list_devices.h"
#include "runtime/opencl/opencl_module.h"

namespace hone::opencl {
namespace {

// Between the addresses of two blocks, so that none is an end of another.
constexpr uint64_t kGapBytes = 1 << 20;

}  // namespace

// A block of the device's memory, with addresses of its own.
class Buffer final : public DeviceMemory {
 public:
  Buffer(OpenClDevice& device, uint64_t address) : device_(device), address_(address) {}
  ~Buffer() override { device_.Release(address_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const override { return reinterpret_cast<void*>(address_); }

 private:
  OpenClDevice& device_;
  const uint64_t address_;
};

std::shared_ptr<OpenClDevice> OpenClDevice::Make(int number, std::string* error) {
  const Api* const api = Api::Get(error);
  if (api == nullptr) return nullptr;
  const std::vector<cl_device_id> devices = AllDevices(*api);
  if (number < 0 || static_cast<size_t>(number) >= devices.size()) {
    *error = MissingDevice("opencl:" + std::to_string(number), devices.size(), "OpenCL") +
             (devices.empty() ? "; install the driver of one" : "");
    return nullptr;
  }
  std::shared_ptr<OpenClDevice> device(new OpenClDevice(*api, devices[static_cast<size_t>(number)],
                                                        "opencl:" + std::to_string(number)));
  return device->Open(error) ? device : nullptr;
}

OpenClDevice::OpenClDevice(const Api& api, cl_device_id id, std::string name)
    : api_(api), id_(id), name_(std::move(name)) {}

bool OpenClDevice::Open(std::string* error) {
  cl_device_fp_config rounding = 0;
  api_.GetDeviceInfo(id_, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), &limits_.work_items,
                     nullptr);
  api_.GetDeviceInfo(id_, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong), &limits_.local_bytes,
                     nullptr);
  api_.GetDeviceInfo(id_, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(rounding), &rounding, nullptr);
  limits_.rounds_division = (rounding & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  cl_int code = CL_SUCCESS;
  context_ = api_.CreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
  if (Check(code, "making a context")) {
    queue_ = api_.CreateCommandQueue(context_, id_, 0, &code);
    Check(code, "making a queue");
  }
  *error = error_;
  return !has_failed();
}

OpenClDevice::~OpenClDevice() {
  if (queue_ != nullptr) api_.ReleaseCommandQueue(queue_);
  if (context_ != nullptr) api_.ReleaseContext(context_);
}

bool OpenClDevice::Check(cl_int code, const std::string& operation) {
  if (code == CL_SUCCESS) return true;
  if (error_.empty()) {
    error_ = "expected " + name_ + " to go on, found " + ErrorName(code) + " " + operation +
             "; open the model again, or on another device";
  }
  return false;
}

std::unique_ptr<DeviceMemory> OpenClDevice::Allocate(uint64_t size_bytes) {
  if (has_failed()) return nullptr;
  const uint64_t rounded = AlignedBytes(size_bytes);
  cl_int code = CL_SUCCESS;
  const cl_mem buffer = api_.CreateBuffer(context_, CL_MEM_READ_WRITE, rounded, nullptr, &code);
  if (code != CL_SUCCESS) return nullptr;
  const cl_uint zero = 0;
  code =
      api_.EnqueueFillBuffer(queue_, buffer, &zero, sizeof(zero), 0, rounded, 0, nullptr, nullptr);
  // Drivers find memory when it is first used.
  if (code == CL_SUCCESS) code = api_.Finish(queue_);
  if (code != CL_SUCCESS) {
    api_.ReleaseMemObject(buffer);
    return nullptr;
  }
  const uint64_t address = next_address_;
  next_address_ += (rounded / kGapBytes + 2) * kGapBytes;
  buffers_.emplace(address, buffer);
  return std::make_unique<Buffer>(*this, address);
}

void OpenClDevice::Release(uint64_t address) {
  const auto found = buffers_.find(address);
  api_.ReleaseMemObject(found->second);
  buffers_.erase(found);
}

Place OpenClDevice::Find(const void* address) const {
  const auto number = reinterpret_cast<uint64_t>(address);
  const auto after = buffers_.upper_bound(number);
  if (after == buffers_.begin()) return {};
  const auto& [first, buffer] = *std::prev(after);
  return {buffer, number - first};
}

void OpenClDevice::CopyIn(void* to, const void* from_host, uint64_t size_bytes) {
  if (has_failed()) return;
  const Place place = Find(to);
  Check(api_.EnqueueWriteBuffer(queue_, place.buffer, CL_TRUE, place.offset_bytes, size_bytes,
                                from_host, 0, nullptr, nullptr),
        "copying to it");
}

void OpenClDevice::CopyOut(void* to_host, const void* from, uint64_t size_bytes) {
  if (has_failed()) return;
  const Place place = Find(from);
  Check(api_.EnqueueReadBuffer(queue_, place.buffer, CL_TRUE, place.offset_bytes, size_bytes,
                               to_host, 0, nullptr, nullptr),
        "copying from it");
}

void OpenClDevice::Copy(void* to, const void* from, uint64_t size_bytes) {
  if (has_failed()) return;
  const Place target = Find(to);
  const Place source = Find(from);
  Check(api_.EnqueueCopyBuffer(queue_, source.buffer, target.buffer, source.offset_bytes,
                               target.offset_bytes, size_bytes, 0, nullptr, nullptr),
        "copying within it");
}

std::unique_ptr<LoadedModule> OpenClDevice::Load(const Module& module, std::string* error) {
  return OpenClModule::Make(module, *this, error);
}

}  // namespace hone::opencl
