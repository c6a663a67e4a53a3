// Runs a compiled model.
#ifndef HONE_RUNTIME_EXECUTOR_H_
#define HONE_RUNTIME_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/launch_sequence.h"
#include "runtime/module.h"

namespace hone {

// One function of a module with its memory on a device. A run is one of its launch sequence, and
// nothing is allocated in it. Not thread-safe.
class Executor {
 public:
  // On this machine's processor, with threads of its own. `module` must outlive it. Null, with a
  // sentence in *error, when memory is short or the threads cannot be started.
  static std::unique_ptr<Executor> Make(const Module& module, const hone_function& function,
                                        int threads, std::string* error);
  // `loaded` is the module on the device; executors may share both.
  static std::unique_ptr<Executor> Make(const Module& module, const hone_function& function,
                                        std::shared_ptr<Device> device,
                                        std::shared_ptr<LoadedModule> loaded, std::string* error);

  const hone_function& function() const { return function_; }
  Device& device() const { return *device_; }
  int threads() const { return device_->threads(); }

  // Memory of an input or output, by the device's address: the executor's own until another is
  // bound.
  void* Input(uint32_t index) const { return inputs_[index]; }
  void* Output(uint32_t index) const { return outputs_[index]; }
  // The caller's memory of the device from here on, aligned to HONE_BUFFER_ALIGNMENT; it outlives
  // the binding. Null: our own.
  void BindInput(uint32_t index, void* data);
  void BindOutput(uint32_t index, void* data);
  bool IsInputBound(uint32_t index) const { return inputs_[index] != own_inputs_[index].data(); }
  bool IsOutputBound(uint32_t index) const { return outputs_[index] != own_outputs_[index].data(); }
  // The output where the host reads it, until the next call for the same one: its memory, or a
  // copy.
  const void* ReadOutput(uint32_t index);

  void Run() { sequence_->Run(); }
  // Seconds of `runs` back-to-back runs.
  double Time(int64_t runs) { return sequence_->Time(runs); }
  // Seconds of `runs` back-to-back runs of one call of the function alone, in all trips of its
  // repeat, entered as a whole run is, on what the calls before it make of the inputs. Below 0,
  // with a sentence in *error: no memory.
  double TimeCall(uint32_t call, int64_t runs, std::string* error);
  // Seconds of `runs` back-to-back runs in which no kernel does anything: the executor's own share.
  double TimeWithoutKernels(int64_t runs) { return sequence_->TimeWithoutKernels(runs); }
  // Nanoseconds of each call of the function, of all trips of its repeat, the median of `runs`
  // runs, with a barrier after every launch.
  std::vector<double> Profile(int runs);

 private:
  // A block of the device; null where it has no bytes.
  class Block {
   public:
    Block() = default;
    explicit Block(std::unique_ptr<DeviceMemory> memory) : memory_(std::move(memory)) {}
    void* data() const { return memory_ ? memory_->data() : nullptr; }

   private:
    std::unique_ptr<DeviceMemory> memory_;
  };

  Executor(const Module& module, const hone_function& function, std::shared_ptr<Device> device,
           std::shared_ptr<LoadedModule> loaded);
  bool Allocate(std::string* error);
  void PlanSteps();
  void PlanRepeats();
  SequenceRepeat RepeatOf(const hone_repeat& repeat) const;
  // The plan's steps for which `stays` holds.
  template <typename Stays>
  SequencePlan OnlySteps(const Stays& stays) const;
  void ResolveBuffers();
  void* Resolve(const hone_location& location) const;

  const Module& module_;
  const hone_function& function_;
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<LoadedModule> loaded_;
  Block arena_;
  std::vector<Block> own_inputs_;
  std::vector<Block> own_outputs_;
  std::vector<void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<void*> buffers_;  // of all calls, one after the other
  SequencePlan plan_;
  // The place of trip 1 of each move of the plan's repeats, in their order.
  std::vector<hone_location> next_places_;
  std::unique_ptr<LaunchSequence> sequence_;
  std::vector<std::vector<uint8_t>> copies_;  // of outputs that the host asked for
};

}  // namespace hone

#endif  // HONE_RUNTIME_EXECUTOR_H_
