// A device runs the launches of modules: it is the processor's threads, or a GPU behind its driver.
#ifndef HONE_RUNTIME_DEVICE_H_
#define HONE_RUNTIME_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/launch_sequence.h"
#include "runtime/module.h"

namespace hone {

// A block of a device's memory, zeroed when it is new.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // An address of the device; offsets may be added to it. Aligned to HONE_BUFFER_ALIGNMENT.
  virtual void* data() const = 0;
};

// A module whose code is loaded on the device. Not thread-safe.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  // The module's parameters in memory of the device; null where it has none.
  virtual void* parameters() const = 0;
  // The plan's launches must be of this module. Null with a sentence in *error if memory is short.
  virtual std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan,
                                                       std::string* error) = 0;
};

// The device outlives all that it made. Addresses are addresses of the device's memory, except for
// parameters with `host` in their name. Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // "cpu", "opencl:0"
  virtual std::string name() const = 0;
  // Whether the host reads and writes its memory by the same addresses.
  virtual bool is_host() const = 0;
  // The threads of the host that work for it in a run.
  virtual int threads() const = 0;

  // Null if the device has not enough memory left. `size_bytes` is not 0.
  virtual std::unique_ptr<DeviceMemory> Allocate(uint64_t size_bytes) = 0;
  virtual void CopyIn(void* to, const void* from_host, uint64_t size_bytes) = 0;
  virtual void CopyOut(void* to_host, const void* from, uint64_t size_bytes) = 0;
  // Copies within the device's memory; the two ranges do not overlap.
  virtual void Copy(void* to, const void* from, uint64_t size_bytes) = 0;

  // `module` outlives the loaded module. Null with a sentence in *error if the module is for
  // another kind of device, if the driver refuses its code, or if memory is short.
  virtual std::unique_ptr<LoadedModule> Load(const Module& module, std::string* error) = 0;

  // A sentence about the device's first failure, or "" as long as the device works. Once it has
  // failed, runs and copies on it do nothing.
  virtual std::string error() const = 0;
};

}  // namespace hone

#endif  // HONE_RUNTIME_DEVICE_H_
