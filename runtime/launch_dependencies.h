// Finds which launches must wait for which, so that all others may run at once.
#ifndef HONE_RUNTIME_LAUNCH_DEPENDENCIES_H_
#define HONE_RUNTIME_LAUNCH_DEPENDENCIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/launch_sequence.h"

namespace hone {

// The bytes begin..end-1 of the device's memory, which a launch reads or writes. What it writes it
// may read as well.
struct MemoryAccess {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool writes = false;
};

// Remembers who read and wrote which memory. A launch must wait for an earlier one if both use the
// same byte and at least one of them writes it. The time of a launch grows with the logarithm of
// the number of ranges that are told apart, not with the number of launches before it.
class AccessHistory {
 public:
  // The search for dependencies that follow from others looks at `most_looked_at` launches for each
  // launch, which bounds the time. A dependency more than needed does no harm.
  explicit AccessHistory(size_t most_looked_at = 1024) : most_looked_at_(most_looked_at) {}

  // Adds the next launch; the first one has the number 0. Returns the numbers of the launches that
  // it must wait for, in ascending order. Those that it waits for anyway, because another one in
  // the list does, are left out where a short search finds that.
  std::vector<size_t> Add(const std::vector<MemoryAccess>& accesses);

 private:
  // A list of launches that have read a range, newest first. Lists share their ends, so that ranges
  // can be split without a copy.
  struct Reader {
    size_t launch = 0;
    size_t next = 0;  // an index of readers_, kNone at the end
  };
  // Who used a range last; the map below has it under its begin. Ranges do not overlap.
  struct Range {
    uintptr_t end = 0;
    size_t writer = 0;   // kNone if none wrote it
    size_t readers = 0;  // since then: an index of readers_, kNone if none read it
  };
  using Ranges = std::map<uintptr_t, Range>;
  static constexpr size_t kNone = SIZE_MAX;

  // Makes the address a border between ranges if it is inside one.
  void SplitAt(uintptr_t address);
  // Makes begin..end-1 a number of whole ranges; gaps become ranges that nobody has used.
  void Cover(uintptr_t begin, uintptr_t end);
  void CollectConflicts(const MemoryAccess& access, std::vector<size_t>* conflicts);
  // Leaves those out that others in the list wait for, and marks all that it finds before them.
  std::vector<size_t> Reduce(std::vector<size_t> conflicts);
  void Read(const MemoryAccess& access);
  void Write(const MemoryAccess& access);
  bool IsBefore(size_t launch) const { return marks_[launch] == now_; }

  const size_t most_looked_at_;
  Ranges ranges_;
  std::vector<Reader> readers_;
  std::vector<size_t> seen_;  // for each of readers_ the last launch that collected it
  std::vector<std::vector<size_t>> waits_for_;  // for each launch what Add returned
  // For each launch the number of the last one that was found to wait for it, directly or not.
  std::vector<size_t> marks_;
  size_t now_ = 0;  // the launch that is being added
};

// For each launch of the plan, in the order of WalkSteps, the launches that it must wait for.
// Inputs, constants and prepared buffers are read, except that prepare launches write prepared
// buffers; all other arguments count as written. Every step must have a device launch.
std::vector<std::vector<size_t>> LaunchDependencies(const SequencePlan& plan);

}  // namespace hone

#endif  // HONE_RUNTIME_LAUNCH_DEPENDENCIES_H_
