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

// One function of a module with its memory on a device. A run executes the function's launch
// sequence once and allocates nothing. Not thread-safe.
class Executor {
 public:
  // Makes an executor on this machine's processor, with threads of its own. `module` must outlive
  // it. Null with a sentence in *error if memory is short or the threads cannot be started.
  static std::unique_ptr<Executor> Make(const Module& module, const hone_function& function,
                                        int threads, std::string* error);
  // Loads the module on the device.
  static std::unique_ptr<Executor> Make(const Module& module, const hone_function& function,
                                        std::shared_ptr<Device> device, std::string* error);
  // `loaded` is the module as `device` loaded it; several executors may share both.
  static std::unique_ptr<Executor> Make(const Module& module, const hone_function& function,
                                        std::shared_ptr<Device> device,
                                        std::shared_ptr<LoadedModule> loaded, std::string* error);

  const hone_function& function() const { return function_; }
  Device& device() const { return *device_; }
  int threads() const { return device_->threads(); }

  // The device address of an input or output: the executor's own memory, or the memory that is
  // bound.
  void* Input(uint32_t index) const { return inputs_[index]; }
  void* Output(uint32_t index) const { return outputs_[index]; }
  // Later runs use the caller's memory, which must be the device's, aligned to
  // HONE_BUFFER_ALIGNMENT, and outlive the binding. Null goes back to the executor's own memory.
  void BindInput(uint32_t index, void* data);
  void BindOutput(uint32_t index, void* data);
  bool IsInputBound(uint32_t index) const { return inputs_[index] != own_inputs_[index].data(); }
  bool IsOutputBound(uint32_t index) const { return outputs_[index] != own_outputs_[index].data(); }
  // The output where the host can read it: its own memory if the device is the host, otherwise a
  // copy, which the next call for the same output overwrites.
  const void* ReadOutput(uint32_t index);

  void Run() { sequence_->Run(); }
  // Seconds that `runs` back-to-back runs take.
  double Time(int64_t runs) { return sequence_->Time(runs); }
  // Seconds that `runs` back-to-back runs of one call of the function take. If the call is in a
  // repeat, each run makes all trips. The calls before it run once first, untimed, so that the call
  // reads what they compute from the present inputs. Negative with a sentence in *error if
  // LoadedModule::MakeSequence fails.
  double TimeCall(uint32_t call, int64_t runs, std::string* error);
  // Seconds that `runs` back-to-back runs take when no kernel does anything. This is the executor's
  // own overhead.
  double TimeWithoutKernels(int64_t runs) { return sequence_->TimeWithoutKernels(runs); }
  // For each call of the function, the median nanoseconds over `runs` runs, all trips of its repeat
  // together. There is a barrier after every launch.
  std::vector<double> Profile(int runs);

 private:
  // A block of the device's memory; null if it has no bytes.
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
  // The plan with only those steps for which `stays` holds.
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
  // Where each buffer that moves in a repeat of the plan is in trip 1, in the order of the repeats
  // and their moves.
  std::vector<hone_location> next_places_;
  std::unique_ptr<LaunchSequence> sequence_;
  std::vector<std::vector<uint8_t>> copies_;  // the outputs that ReadOutput copied
};

}  // namespace hone

#endif  // HONE_RUNTIME_EXECUTOR_H_
