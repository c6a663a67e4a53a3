// What reading costs one core: rules for its caches that the cost models of all strategies share.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_READING_H_
#define HONE_COMPILER_SCHEDULE_PRICE_READING_H_

#include <cstdint>
#include <optional>

#include "compiler/machine/memory.h"

namespace hone::schedule {

// How fast one core reads. A value type; the memory outlives it.
class CoreReads {
 public:
  // `stream_bytes_a_cycle` is the rate of reads from behind the second cache that StreamBytesOf
  // gives; nullopt: the rates of `memory` hold.
  CoreReads(const machine::Memory& memory, std::optional<double> stream_bytes_a_cycle)
      : memory_(&memory), stream_bytes_a_cycle_(stream_bytes_a_cycle) {}

  // Bytes a cycle from behind the second cache.
  double StreamRate() const {
    return stream_bytes_a_cycle_.value_or(memory_->l3.read_bytes_a_cycle);
  }
  // The cycles to read `bytes` that every run of the kernel reads once: they come from the second
  // cache if they fit it, else from behind it.
  double CyclesOf(int64_t bytes) const;
  // The cycles to read `bytes` again, where `among` bytes are read from one use of an element to
  // the next. A cache still has the element if `among` is at most half of the cache; what is still
  // in the first cache takes no cycles here.
  double CyclesAgain(int64_t bytes, int64_t among) const;

  // Bytes a cycle from wherever `bytes` of a block stay between two uses. The last cache holds them
  // only if they are at most an eighth of it, since in a model most of it is for other kernels'
  // weights.
  double BlockRate(int64_t bytes) const;

 private:
  const machine::Memory* memory_;
  std::optional<double> stream_bytes_a_cycle_;
};

// The cycles of work that computes for `computing` cycles and reads for `reading` cycles at the
// same time: the longer of the two, and a small share of the shorter one, which is mostly hidden.
// `not_ahead`, from 0 to 1, is the part of the data that nothing fetches ahead; that part is not
// hidden.
double WhileReading(double computing, double reading, double not_ahead = 0);
// The same where all that is read was prefetched evenly, a whole region ahead (PrefetchRegion).
double WhilePrefetching(double computing, double reading);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_READING_H_
