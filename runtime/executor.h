// Runs a compiled model.
#ifndef HONE_RUNTIME_EXECUTOR_H_
#define HONE_RUNTIME_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/launch_step.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "runtime/subnormals.h"
#include "runtime/thread_team.h"

namespace hone {

// One function of a module with its memory and its threads. A run enters the team once: all threads
// walk the launch list, and in it the trips of repeats, with barriers between dependent launches
// only, and nothing is allocated. Not thread-safe.
class Executor {
 public:
  // `module` must outlive it. Null, with a sentence in *error, when memory is short or the threads
  // cannot be started.
  static std::unique_ptr<Executor> Make(const Module& module, const hone_function& function,
                                        int threads, std::string* error);
  // The same on threads that others use too, one at a time.
  static std::unique_ptr<Executor> Make(const Module& module, const hone_function& function,
                                        std::shared_ptr<ThreadTeam> team, std::string* error);

  const hone_function& function() const { return function_; }
  int threads() const { return team_->threads(); }

  // Memory of an input or output: the executor's own until another is bound.
  void* Input(uint32_t index) const { return inputs_[index]; }
  void* Output(uint32_t index) const { return outputs_[index]; }
  // The caller's memory from here on, aligned to HONE_BUFFER_ALIGNMENT; it outlives the binding.
  // Null: our own.
  void BindInput(uint32_t index, void* data);
  void BindOutput(uint32_t index, void* data);
  bool IsInputBound(uint32_t index) const { return inputs_[index] != own_inputs_[index].data(); }
  bool IsOutputBound(uint32_t index) const { return outputs_[index] != own_outputs_[index].data(); }

  void Run();
  // Seconds of `runs` back-to-back runs.
  double Time(int64_t runs);
  // Seconds of `runs` back-to-back runs of one call of the function alone, in all trips of its
  // repeat, entered as a whole run is, on what the calls before it make of the inputs.
  double TimeCall(uint32_t call, int64_t runs);
  // Seconds of `runs` back-to-back runs in which no kernel does anything: the executor's own share.
  double TimeWithoutKernels(int64_t runs);
  // Nanoseconds of each call of the function, of all trips of its repeat, the median of `runs`
  // runs, with a barrier after every launch.
  std::vector<double> Profile(int runs);

 private:
  struct Step {
    LaunchStep launch;
    size_t first_buffer;  // into buffers_
    uint32_t call;
  };
  // A buffer that moves from trip to trip.
  struct Mover {
    size_t buffer;  // into buffers_
    hone_move move;
    uint64_t prefetched_bytes;  // of the row of the trip after the next
    uint8_t* next;              // where it lies in trip 1
  };
  // Steps that are walked `trips` times, on their buffers, which move.
  struct Repeat {
    size_t first_step;
    size_t end_step;
    int64_t trips;
    size_t first_buffer;
    size_t end_buffer;
    std::vector<Mover> movers;
  };

  Executor(const Module& module, const hone_function& function, std::shared_ptr<ThreadTeam> team);
  bool Allocate(std::string* error);
  void MakeSteps();
  void MakeRepeats();
  void PlanBarriers();
  void ResolveBuffers();
  void* Resolve(const hone_location& location) const;
  // Calls run(step, pointers of its buffers) for each step, and in repeats for each trip.
  template <typename RunStep>
  void WalkSteps(int thread, const RunStep& run);
  static void MoveBuffers(const Repeat& repeat, int64_t trip, void** pointers);
  void Walk(int thread);
  void WalkAlone();
  void WalkTimed(int thread, std::vector<double>* call_ns);

  const Module& module_;
  const hone_function& function_;
  std::shared_ptr<ThreadTeam> team_;
  Memory arena_;
  std::vector<Memory> own_inputs_;
  std::vector<Memory> own_outputs_;
  std::vector<Memory> scratch_;  // of each thread
  std::vector<void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<void*> buffers_;  // of all calls, one after the other
  std::vector<Step> steps_;
  std::vector<Repeat> repeats_;
  std::vector<std::vector<void*>> moving_;  // of each thread: the buffers of the repeat it is in
};

}  // namespace hone

#endif  // HONE_RUNTIME_EXECUTOR_H_
