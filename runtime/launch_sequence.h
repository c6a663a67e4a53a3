// A list of launches that runs as a whole, often: a model, or a kernel.
#ifndef HONE_RUNTIME_LAUNCH_SEQUENCE_H_
#define HONE_RUNTIME_LAUNCH_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/module_abi.h"

namespace hone {

struct SequenceStep {
  const hone_launch* launch = nullptr;
  const hone_device_launch* device_launch = nullptr;  // null if the host runs the launch
  bool wants_barrier = false;  // it depends on a launch since the last barrier
  uint32_t call = 0;           // the call that its time counts for
  size_t first_buffer = 0;     // index into addresses where its kernel's buffers begin
};

// A buffer that moves from trip to trip, as struct hone_move.
struct SequenceMove {
  size_t buffer = 0;  // among the addresses
  void* next = nullptr;
  int64_t stride_bytes = 0;
  bool alternates = false;
  uint64_t size_bytes = 0;
};

// Where the moving buffer lies in a trip, if it lies at `first` in trip 0.
inline void* AddressInTrip(const SequenceMove& move, void* first, int64_t trip) {
  if (trip == 0) return first;
  const int64_t strides = move.alternates ? (trip - 1) % 2 : trip - 1;
  return static_cast<uint8_t*>(move.next) + strides * move.stride_bytes;
}

// Steps that are walked `trips` times, while their buffers move.
struct SequenceRepeat {
  size_t first_step = 0;
  size_t end_step = 0;
  int64_t trips = 1;
  size_t first_buffer = 0;
  size_t end_buffer = 0;
  std::vector<SequenceMove> moves;
};

struct SequencePlan {
  std::vector<SequenceStep> steps;
  std::vector<SequenceRepeat> repeats;  // ascending, apart from each other
  // The buffers of all steps, in memory of the device that runs them. The array belongs to whoever
  // makes the plan.
  void* const* addresses = nullptr;
};

// A plan made ready on its device; the plan outlives it. Only one call runs at a time. Once the
// device has failed (Device::error), calls do nothing.
class LaunchSequence {
 public:
  virtual ~LaunchSequence() = default;

  // Returns when all is computed.
  virtual void Run() = 0;
  // Seconds of `runs` back-to-back runs.
  virtual double Time(int64_t runs) = 0;
  // The same with kernels that do nothing, which leaves the overhead of the sequence itself.
  virtual double TimeWithoutKernels(int64_t runs) = 0;
  // Runs once with a barrier after every launch, and adds each launch's nanoseconds to the entry of
  // its call.
  virtual void RunTimed(std::vector<double>& call_ns) = 0;
  // To be called after addresses of the plan, or of its moves, have changed.
  virtual void AddressesChanged() {}
};

}  // namespace hone

#endif  // HONE_RUNTIME_LAUNCH_SEQUENCE_H_
