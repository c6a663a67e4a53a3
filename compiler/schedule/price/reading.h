// What reading costs one core: the rules of its caches, which prices of all strategies share.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_READING_H_
#define HONE_COMPILER_SCHEDULE_PRICE_READING_H_

#include <cstdint>
#include <optional>

#include "compiler/machine/memory.h"

namespace hone::schedule {

// How fast one core reads. A value type; the memory outlives it.
class CoreReads {
 public:
  // `stream_bytes_a_cycle`: from behind the second cache, as measured of the machine or usual of
  // its cpu (StreamBytesOf); nullopt: the models' rules hold.
  CoreReads(const machine::Memory& memory, std::optional<double> stream_bytes_a_cycle)
      : memory_(&memory), stream_bytes_a_cycle_(stream_bytes_a_cycle) {}

  // Bytes a cycle from behind the second cache.
  double StreamRate() const {
    return stream_bytes_a_cycle_.value_or(memory_->l3.read.register_tile_bytes_a_cycle);
  }
  // The cycles of so many bytes that every run reads once: they come from the second cache where
  // they fit it, else from behind it.
  double CyclesOf(int64_t bytes) const;
  // The cycles of so many bytes that were read before, where those that lie between are `among`: of
  // a cache half is theirs.
  double CyclesAgain(int64_t bytes, int64_t among) const;

  // The same by the rules that Winograd's blocks were priced by, which tell the last cache from the
  // memory behind it: bytes a cycle from the last cache, and from where so many stay between two
  // uses. In a model most of the last cache is for other kernels' weights.
  double BlockStreamRate() const {
    return stream_bytes_a_cycle_.value_or(memory_->l3.read.winograd_bytes_a_cycle);
  }
  double BlockRate(int64_t bytes) const;

 private:
  const machine::Memory* memory_;
  std::optional<double> stream_bytes_a_cycle_;
};

// The cycles of what computes for so many and reads for so many: most of the lesser is hidden, but
// for the part of it that nothing fetches ahead.
double WhileReading(double computing, double reading, double not_ahead = 0);
// The same where all that is read was prefetched evenly, a whole region ahead (PrefetchRegion).
double WhilePrefetching(double computing, double reading);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_READING_H_
