// A device runs the launches of modules: the processor with its threads, or a GPU behind a driver.
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
  // An address of the device, aligned to HONE_BUFFER_ALIGNMENT. Offsets may be added to it.
  virtual void* data() const = 0;
};

// A module whose code is loaded on the device. Not thread-safe.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  // The module's parameters in the device's memory; null if it has none.
  virtual void* parameters() const = 0;
  // The plan's launches must be of this module, and the plan must outlive the sequence. Null with a
  // sentence in *error if memory is short or the code lacks a launch's entry.
  virtual std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan,
                                                       std::string* error) = 0;
};

// A device must outlive everything that it made. Addresses are in the device's memory, except for
// parameters with `host` in their name. Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // "cpu", "opencl:0"
  virtual std::string name() const = 0;
  // Whether the host can read and write the device's memory at the same addresses.
  virtual bool is_host() const = 0;
  // The number of host threads that work in a run.
  virtual int threads() const = 0;

  // Null if the device has not enough memory left. `size_bytes` is not 0.
  virtual std::unique_ptr<DeviceMemory> Allocate(uint64_t size_bytes) = 0;
  // CopyIn and CopyOut return when the copy is done.
  virtual void CopyIn(void* to, const void* from_host, uint64_t size_bytes) = 0;
  virtual void CopyOut(void* to_host, const void* from, uint64_t size_bytes) = 0;
  // Copies within the device's memory, before any later work on the device. The two ranges must not
  // overlap.
  virtual void Copy(void* to, const void* from, uint64_t size_bytes) = 0;

  // Whether other libraries of the process can use addresses of the device's memory, and Hone
  // theirs.
  virtual bool is_shared() const { return false; }
  // Copies from memory of the device that another library filled by work in the device's default
  // stream, after that work. Returns when the copy is done. Only for a device that is shared.
  virtual void CopyShared(void* /*to*/, const void* /*from*/, uint64_t /*size_bytes*/) {}

  // `module` must outlive the loaded module. Null with a sentence in *error if the module is for
  // another kind of device or asks for more than this one has, if the driver refuses its code, or
  // if memory is short.
  virtual std::unique_ptr<LoadedModule> Load(const Module& module, std::string* error) = 0;

  // A sentence about the device's first failure, or "" as long as the device works. Once it has
  // failed, runs and copies on it do nothing.
  virtual std::string error() const = 0;
};

}  // namespace hone

#endif  // HONE_RUNTIME_DEVICE_H_
