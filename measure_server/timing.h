// How a kernel is timed: many short chunks, of which undisturbed ones count first. The process of
// the candidate takes the chunks; the samples are made of them elsewhere.
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
  uint64_t rotation_bytes = 0;
};

struct Chunk {
  double wall_ns = 0;
  bool is_clean = true;  // not preempted meanwhile
  double excess = 0;     // wall time over the processor time of the first thread, less 1
};

// What is timed; a test puts a script in its place.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  virtual Chunk RunChunk(int64_t runs) = 0;
  // Between chunks, outside of their time.
  virtual double Calibrate() = 0;  // ns
};

// All that was run in a round, in order. Plain data but for the vector, for it is sent.
struct RoundLog {
  struct Chunk {
    double wall_ns = 0;
    double calibrator_ns = 0;  // of the pass before it
    double excess = 0;
    uint64_t is_clean = 0;
  };
  int64_t warmup_runs = 0;
  double warmup_ns = 0;
  int64_t runs = 0;  // of each chunk
  std::vector<Chunk> chunks;
};

// Whether it can be a time: what a child says is not believed.
bool IsTime(double ns);

// Warms up, then chunks until `min_chunks` are clean, `max_chunks` are tried, or the median of at
// least three clean ones is above `stop_above_ns`.
RoundLog RunRound(TimedWork& work, const Plan& plan);
// Whether a log may end here by these rules, and not earlier.
bool IsWhole(const RoundLog& log, const Plan& plan);

struct Timing {
  std::vector<double> samples_ns;  // a run; of clean chunks, then of the least disturbed
  std::vector<double> calibrator_ns;
  uint32_t clean_chunks = 0;  // so many of the samples are of clean ones
  uint32_t dirty_chunks = 0;  // tried, not clean
  bool is_noisy = false;      // some samples are of disturbed chunks
};

// Where `max_chunks` did not give `min_chunks` clean ones, the least disturbed make up for them:
// noise of the machine is no fault of the work.
Timing TimingOf(const RoundLog& log, const Plan& plan);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_TIMING_H_
