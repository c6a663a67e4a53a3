// Times a kernel in many short chunks, and prefers those that nothing disturbed. The process of the
// candidate runs the chunks; another process makes samples from them.
#ifndef HONE_MEASURE_SERVER_TIMING_H_
#define HONE_MEASURE_SERVER_TIMING_H_

#include <cstdint>
#include <vector>

namespace hone::measure {

// The contents of hone.v1.TimingPlan as plain data, for processes without protobuf.
struct Plan {
  int64_t chunk_ns = 1'000'000;
  uint32_t min_chunks = 10;
  uint32_t max_chunks = 40;
  int64_t warmup_ns = 2'000'000;
  double stop_above_ns = 0;
  uint64_t rotation_bytes = 0;
};

struct Chunk {
  double wall_ns = 0;
  bool is_clean = true;  // not preempted meanwhile
  double excess = 0;     // wall time over the processor time of the first thread, less 1
};

// What is timed. Tests replace it by a script.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  virtual Chunk RunChunk(int64_t runs) = 0;
  // Called between chunks, outside their time. Returns the nanoseconds of a calibrator pass.
  virtual double Calibrate() = 0;
};

// Everything that was run in a round, in order.
struct RoundLog {
  struct Chunk {
    double wall_ns = 0;
    double calibrator_ns = 0;  // of the calibrator pass before the chunk
    double excess = 0;
    uint64_t is_clean = 0;
  };
  int64_t warmup_runs = 0;
  double warmup_ns = 0;
  int64_t runs = 0;  // of each chunk
  std::vector<Chunk> chunks;
};

// Whether the number can be a time, that is, is positive and finite. Numbers from a child may be
// anything.
bool IsTime(double ns);

// Warms up, then runs chunks until `min_chunks` are clean, `max_chunks` were tried, or the median
// of at least three clean ones is above `stop_above_ns` per run.
RoundLog RunRound(TimedWork& work, const Plan& plan);
// Whether the log ends exactly where these rules end a round.
bool IsWhole(const RoundLog& log, const Plan& plan);

struct Timing {
  std::vector<double> samples_ns;     // time of a run; those of clean chunks are first
  std::vector<double> calibrator_ns;  // by sample
  uint32_t clean_chunks = 0;          // how many of the samples are of clean chunks
  uint32_t dirty_chunks = 0;          // chunks that were tried but not clean
  bool is_noisy = false;              // some samples are of disturbed chunks
};

// If `max_chunks` chunks gave fewer than `min_chunks` clean ones, the least disturbed ones fill up,
// since the work is not to blame for a noisy machine.
Timing TimingOf(const RoundLog& log, const Plan& plan);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_TIMING_H_
