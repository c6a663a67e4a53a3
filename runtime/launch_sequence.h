// The launches of a model or of one kernel, planned once and run as a whole, many times.
#ifndef HONE_RUNTIME_LAUNCH_SEQUENCE_H_
#define HONE_RUNTIME_LAUNCH_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/module_abi.h"

namespace hone {

struct SequenceStep {
  const hone_launch* launch = nullptr;
  const hone_device_launch* device_launch = nullptr;  // null if the CPU runs the launch
  const hone_buffer* buffers = nullptr;               // the table of its kernel's buffers
  bool wants_barrier = false;  // it depends on a launch that ran since the last barrier
  uint32_t call = 0;           // the index of the call that RunTimed adds its time to
  size_t first_buffer = 0;     // where its kernel's buffers begin in the plan's addresses
};

// A buffer that moves from trip to trip, as struct hone_move describes.
struct SequenceMove {
  size_t buffer = 0;     // its index in the plan's addresses
  void* next = nullptr;  // where it is in trip 1
  int64_t stride_bytes = 0;
  bool alternates = false;
  uint64_t size_bytes = 0;
};

// Where the moving buffer is in a trip, given that it is at `first` in trip 0.
inline void* AddressInTrip(const SequenceMove& move, void* first, int64_t trip) {
  if (trip == 0) return first;
  const int64_t strides = move.alternates ? (trip - 1) % 2 : trip - 1;
  return static_cast<uint8_t*>(move.next) + strides * move.stride_bytes;
}

// Consecutive steps that are run `trips` times, while their buffers move. The ends are exclusive.
struct SequenceRepeat {
  size_t first_step = 0;
  size_t end_step = 0;
  int64_t trips = 1;
  size_t first_buffer = 0;  // the steps' buffers begin here in the plan's addresses
  size_t end_buffer = 0;
  std::vector<SequenceMove> moves;
};

// What a device is to run: launches in order, and the repeats among them.
struct SequencePlan {
  std::vector<SequenceStep> steps;
  std::vector<SequenceRepeat> repeats;  // ascending and disjoint
  // The buffers of all steps, in the memory of the device that runs them. Whoever makes the plan
  // owns the array.
  void* const* addresses = nullptr;
};

// A plan, made ready to run on its device. The plan must outlive it. Only one call may run at a
// time. Once the device has failed (Device::error), calls do nothing, and times are 0.
class LaunchSequence {
 public:
  virtual ~LaunchSequence() = default;

  // Returns when everything is computed.
  virtual void Run() = 0;
  // Seconds that `runs` back-to-back runs take.
  virtual double Time(int64_t runs) = 0;
  // The same with kernels that do nothing, which leaves the overhead of the sequence itself.
  virtual double TimeWithoutKernels(int64_t runs) = 0;
  // Runs once with a barrier after every launch, and adds each launch's nanoseconds to the entry of
  // its call.
  virtual void RunTimed(std::vector<double>& call_ns) = 0;
  // Call this after changing addresses of the plan or of its moves.
  virtual void AddressesChanged() {}
};

}  // namespace hone

#endif  // HONE_RUNTIME_LAUNCH_SEQUENCE_H_
