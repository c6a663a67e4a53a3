#include "runtime/cuda/cuda_device.h"

#include <utility>

#include "runtime/cuda/cuda_module.h"
#include "runtime/memory.h"
#include "runtime/missing_device.h"

namespace hone::cuda {
namespace {

Address AddressOf(const void* pointer) { return reinterpret_cast<Address>(pointer); }

// A block of the device's memory.
class Block final : public DeviceMemory {
 public:
  Block(const CudaDevice& device, Address address) : device_(device), address_(address) {}
  ~Block() override {
    const InContext in_context(device_);
    device_.api().MemFree(address_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* data() const override { return reinterpret_cast<void*>(address_); }

 private:
  const CudaDevice& device_;
  const Address address_;
};

}  // namespace

InContext::InContext(const CudaDevice& device) : api_(device.api()) {
  is_pushed_ = api_.CtxPushCurrent(device.context()) == kSuccess;
}

InContext::~InContext() {
  Context popped = nullptr;
  if (is_pushed_) api_.CtxPopCurrent(&popped);
}

std::shared_ptr<CudaDevice> CudaDevice::Make(int number, std::string* error) {
  const CudaApi* const api = CudaApi::Get(error);
  if (api == nullptr) return nullptr;
  int count = 0;
  api->DeviceGetCount(&count);
  DeviceId id = 0;
  if (number < 0 || number >= count || api->DeviceGet(&id, number) != kSuccess) {
    *error = MissingDevice("cuda:" + std::to_string(number), static_cast<size_t>(count), "CUDA");
    return nullptr;
  }
  std::shared_ptr<CudaDevice> device(new CudaDevice(*api, id, "cuda:" + std::to_string(number)));
  return device->Open(error) ? device : nullptr;
}

CudaDevice::CudaDevice(const CudaApi& api, DeviceId id, std::string name)
    : api_(api), id_(id), name_(std::move(name)) {}

bool CudaDevice::Open(std::string* error) {
  api_.DeviceGetAttribute(&limits_.threads, kMaxThreadsPerBlock, id_);
  api_.DeviceGetAttribute(&limits_.shared_bytes, kMaxSharedMemoryPerBlockOptin, id_);
  if (Check(api_.DevicePrimaryCtxRetain(&context_, id_), "making a context")) {
    const InContext in_context(*this);
    Check(api_.StreamCreate(&stream_, kStreamNonBlocking), "making a stream");
  }
  *error = error_;
  return !has_failed();
}

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) return;
  if (stream_ != nullptr) {
    const InContext in_context(*this);
    api_.StreamDestroy(stream_);
  }
  api_.DevicePrimaryCtxRelease(id_);
}

bool CudaDevice::Check(Result result, const std::string& operation) {
  if (result == kSuccess) return true;
  if (error_.empty()) {
    error_ = "expected " + name_ + " to go on, found " + api_.NameOf(result) + " " + operation +
             "; start the process again, or open the model on another device";
  }
  return false;
}

bool CudaDevice::Synchronize(const std::string& operation) {
  return Check(api_.StreamSynchronize(stream_), operation);
}

std::unique_ptr<DeviceMemory> CudaDevice::Allocate(uint64_t size_bytes) {
  if (has_failed()) return nullptr;
  const InContext in_context(*this);
  const uint64_t rounded = AlignedBytes(size_bytes);
  Address address = 0;
  const Result result = api_.MemAlloc(&address, rounded);
  if (result != kSuccess) {
    // Short memory is the caller's to tell; anything else is a fault of the device.
    if (result != kOutOfMemory) Check(result, "allocating memory");
    return nullptr;
  }
  auto block = std::make_unique<Block>(*this, address);
  const bool is_zeroed =
      Check(api_.MemsetD8Async(address, 0, rounded, stream_), "clearing memory") &&
      Synchronize("clearing memory");
  return is_zeroed ? std::move(block) : nullptr;
}

// Each copy waits, as the memory of the host may change right after it.
void CudaDevice::CopyIn(void* to, const void* from_host, uint64_t size_bytes) {
  if (has_failed()) return;
  const InContext in_context(*this);
  const bool is_begun =
      Check(api_.MemcpyHtoDAsync(AddressOf(to), from_host, size_bytes, stream_), "copying to it");
  if (is_begun) Synchronize("copying to it");
}

void CudaDevice::CopyOut(void* to_host, const void* from, uint64_t size_bytes) {
  if (has_failed()) return;
  const InContext in_context(*this);
  const bool is_begun =
      Check(api_.MemcpyDtoHAsync(to_host, AddressOf(from), size_bytes, stream_), "copying from it");
  if (is_begun) Synchronize("copying from it");
}

void CudaDevice::Copy(void* to, const void* from, uint64_t size_bytes) {
  if (has_failed()) return;
  const InContext in_context(*this);
  Check(api_.MemcpyDtoDAsync(AddressOf(to), AddressOf(from), size_bytes, stream_),
        "copying within it");
}

void CudaDevice::CopyShared(void* to, const void* from, uint64_t size_bytes) {
  if (has_failed()) return;
  const InContext in_context(*this);
  // This device's stream does not wait for the default one by itself.
  if (!Check(api_.StreamSynchronize(kLegacyStream), "waiting for other libraries")) return;
  const bool is_begun =
      Check(api_.MemcpyDtoDAsync(AddressOf(to), AddressOf(from), size_bytes, stream_),
            "copying within it");
  if (is_begun) Synchronize("copying within it");
}

std::unique_ptr<LoadedModule> CudaDevice::Load(const Module& module, std::string* error) {
  return CudaModule::Make(module, *this, error);
}

}  // namespace hone::cuda
