// An NVIDIA GPU, driven through CUDA's driver API.
#ifndef HONE_RUNTIME_CUDA_CUDA_DEVICE_H_
#define HONE_RUNTIME_CUDA_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/cuda/cuda_api.h"
#include "runtime/device.h"

namespace hone::cuda {

// The limits of a device, as its driver reports them.
struct CudaLimits {
  int threads = 0;       // the most in a block
  int shared_bytes = 0;  // the most for a block of a kernel that opts in to more than 48 KiB
};

// Works in the GPU's primary context, which it shares with other libraries of the process, and in
// one stream of its own, which runs everything in order. A child of fork() must not use the device.
// After a fault in a kernel, the driver fails every further call of the process.
class CudaDevice final : public Device {
 public:
  // Opens the device of this number. Null with a sentence in *error if that fails.
  static std::shared_ptr<CudaDevice> Make(int number, std::string* error);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string name() const override { return name_; }
  bool is_host() const override { return false; }
  int threads() const override { return 1; }
  std::unique_ptr<DeviceMemory> Allocate(uint64_t size_bytes) override;
  void CopyIn(void* to, const void* from_host, uint64_t size_bytes) override;
  void CopyOut(void* to_host, const void* from, uint64_t size_bytes) override;
  void Copy(void* to, const void* from, uint64_t size_bytes) override;
  bool is_shared() const override { return true; }
  void CopyShared(void* to, const void* from, uint64_t size_bytes) override;
  std::unique_ptr<LoadedModule> Load(const Module& module, std::string* error) override;
  std::string error() const override { return error_; }

  const CudaApi& api() const { return api_; }
  Context context() const { return context_; }
  Stream stream() const { return stream_; }
  const CudaLimits& limits() const { return limits_; }
  bool has_failed() const { return !error_.empty(); }
  // Whether graphs may have launches that start before those that they wait for have ended. It is
  // true until the driver refuses such a graph.
  bool starts_early() const { return starts_early_; }
  void StartNothingEarly() { starts_early_ = false; }
  // True if `result` is success; otherwise false, and error() keeps the first failure.
  bool Check(Result result, const std::string& operation);
  // Waits until the stream has done all its work.
  bool Synchronize(const std::string& operation);

 private:
  CudaDevice(const CudaApi& api, DeviceId id, std::string name);
  bool Open(std::string* error);

  const CudaApi& api_;
  const DeviceId id_;
  const std::string name_;
  CudaLimits limits_;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  bool starts_early_ = true;
  std::string error_;
};

// Makes the device's context current in the calling thread as long as this object lives.
class InContext {
 public:
  explicit InContext(const CudaDevice& device);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  const CudaApi& api_;
  bool is_pushed_ = false;
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_CUDA_DEVICE_H_
