// A device that is driven through OpenCL 1.2.
#ifndef HONE_RUNTIME_OPENCL_DEVICE_H_
#define HONE_RUNTIME_OPENCL_DEVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/opencl/api.h"

namespace hone::opencl {

// What an address points to: a buffer and an offset into it.
struct Place {
  cl_mem buffer = nullptr;
  cl_ulong offset_bytes = 0;
};

// The limits of a device, as its driver reports them.
struct DeviceLimits {
  size_t work_items = 0;         // the most in a work group
  cl_ulong local_bytes = 0;      // the most local memory of a work group
  bool rounds_division = false;  // CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
};

// OpenCL 1.2 buffers have no addresses, so this device hands out numbers of its own as addresses,
// and Find maps a number back to a buffer. One queue runs all work in order. A child of fork() must
// not use the device.
class OpenClDevice final : public Device {
 public:
  // Opens the device of this number, counted over all platforms. Null with a sentence in *error if
  // that fails.
  static std::shared_ptr<OpenClDevice> Make(int number, std::string* error);
  ~OpenClDevice() override;
  OpenClDevice(const OpenClDevice&) = delete;
  OpenClDevice& operator=(const OpenClDevice&) = delete;

  std::string name() const override { return name_; }
  bool is_host() const override { return false; }
  int threads() const override { return 1; }
  std::unique_ptr<DeviceMemory> Allocate(uint64_t size_bytes) override;
  void CopyIn(void* to, const void* from_host, uint64_t size_bytes) override;
  void CopyOut(void* to_host, const void* from, uint64_t size_bytes) override;
  void Copy(void* to, const void* from, uint64_t size_bytes) override;
  std::unique_ptr<LoadedModule> Load(const Module& module, std::string* error) override;
  std::string error() const override { return error_; }

  const Api& api() const { return api_; }
  cl_context context() const { return context_; }
  cl_device_id id() const { return id_; }
  cl_command_queue queue() const { return queue_; }
  const DeviceLimits& limits() const { return limits_; }
  bool has_failed() const { return !error_.empty(); }
  // True if `code` is success; otherwise false, and error() keeps the first failure.
  bool Check(cl_int code, const std::string& operation);
  // The place that an address of this device's memory stands for; for null, a place without a
  // buffer.
  Place Find(const void* address) const;

 private:
  friend class Buffer;
  OpenClDevice(const Api& api, cl_device_id id, std::string name);
  bool Open(std::string* error);
  void Release(uint64_t address);

  const Api& api_;
  const cl_device_id id_;
  const std::string name_;
  DeviceLimits limits_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::map<uint64_t, cl_mem> buffers_;  // by their first address
  uint64_t next_address_ = uint64_t{1} << 40;
  std::string error_;
};

}  // namespace hone::opencl

#endif  // HONE_RUNTIME_OPENCL_DEVICE_H_
