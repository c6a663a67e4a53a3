// How a kernel is timed: many short chunks, of which only undisturbed ones count.
#ifndef HONE_MEASURE_SERVER_TIMING_H_
#define HONE_MEASURE_SERVER_TIMING_H_

#include <cstdint>
#include <vector>

namespace hone::measure {

// As hone.v1.TimingPlan; plain data, for it goes to processes without protobuf.
struct Plan {
  int64_t chunk_ns = 1'000'000;
  uint32_t min_chunks = 10;
  uint32_t max_chunks = 40;
  int64_t warmup_ns = 2'000'000;
  double stop_above_ns = 0;
  uint32_t cold_constants = 0;
};

struct Chunk {
  double wall_ns = 0;
  bool is_clean = true;  // not preempted meanwhile
};

// What is timed; a test puts a script in its place.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  virtual Chunk RunChunk(int64_t runs) = 0;
  virtual double Calibrate() = 0;  // ns
};

struct Timing {
  std::vector<double> samples_ns;  // a run, of clean chunks
  std::vector<double> calibrator_ns;
  uint32_t dirty_chunks = 0;
};

// Warms up, then chunks until `min_chunks` are clean, `max_chunks` are tried, or the median of at
// least three is above `stop_above_ns`. When none of `max_chunks` is clean, as many are tried once
// more.
Timing Time(TimedWork& work, const Plan& plan);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_TIMING_H_
