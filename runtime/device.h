// What runs the launches of modules: the processor's threads, or a GPU behind its driver.
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

// A module whose code the device has taken. Not thread-safe.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  // The module's parameters in memory of the device; null where it has none.
  virtual void* parameters() const = 0;
  // Null with a sentence in *error where memory is short. The plan's launches are the module's.
  virtual std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan,
                                                       std::string* error) = 0;
};

// It outlives all that it made. Addresses are those of its own memory, but for what is the host's
// by name. Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // "cpu", "opencl:0"
  virtual std::string name() const = 0;
  // Whether the host reads and writes its memory by the same addresses.
  virtual bool is_host() const = 0;
  // The threads of the host that work for it in a run.
  virtual int threads() const = 0;

  // Null where there is no such memory left. `size_bytes` is not 0.
  virtual std::unique_ptr<DeviceMemory> Allocate(uint64_t size_bytes) = 0;
  virtual void CopyIn(void* to, const void* from_host, uint64_t size_bytes) = 0;
  virtual void CopyOut(void* to_host, const void* from, uint64_t size_bytes) = 0;
  // Within its memory; the places are apart.
  virtual void Copy(void* to, const void* from, uint64_t size_bytes) = 0;

  // `module` outlives what is loaded. Null with a sentence in *error: the module is for another
  // kind of device, the driver refuses its code, or memory is short.
  virtual std::unique_ptr<LoadedModule> Load(const Module& module, std::string* error) = 0;

  // What ended the device's work: a sentence, from the first failure on; "" as long as it works.
  // What is run or copied on a device that has failed does nothing.
  virtual std::string error() const = 0;
};

}  // namespace hone

#endif  // HONE_RUNTIME_DEVICE_H_
