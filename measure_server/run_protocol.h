// The messages between the worker and its zygote. They are plain data, since the zygote and its
// children use neither files nor protobuf.
#ifndef HONE_MEASURE_SERVER_RUN_PROTOCOL_H_
#define HONE_MEASURE_SERVER_RUN_PROTOCOL_H_

#include <cstddef>
#include <cstdint>

#include "measure_server/timing.h"

namespace hone::measure {

inline constexpr uint32_t kMaxCandidates = 64;
inline constexpr uint32_t kMaxSamples = 1024;
inline constexpr uint32_t kMaxChunks = 1024;  // of a round
inline constexpr uint32_t kMaxOutputs = 64;
inline constexpr size_t kPageBytes = 4096;
// The name of the processor as a device; others have names such as "opencl:0".
inline constexpr char kHostDevice[] = "cpu";

// One run: a trial, a final, or a reference; or nothing but opening the device. Two kinds are no
// runs and have no reports: kLoadAhead has the candidates of a later kMeasure of its lease loaded,
// and kForget ends those of the lease that no run has taken.
struct RunRequest {
  enum Kind : uint32_t { kMeasure = 0, kReference = 1, kOpening = 2, kLoadAhead = 3, kForget = 4 };
  uint64_t session = 0;  // the run's number, unique in its zygote
  int64_t lease = 0;     // the lease by which the run can be cancelled; 0: none
  uint32_t kind = kMeasure;
  uint32_t candidate_count = 0;
  uint32_t rounds = 0;  // of a final; 0: the run is a search's trial
  uint32_t threads = 1;
  uint32_t has_reference = 0;
  uint64_t seed = 0;
  Plan plan;
  int64_t run_limit_ns = 0;         // for each candidate
  uint64_t memory_limit_bytes = 0;  // for each candidate; 0: none
  // The memory that all candidates may take at once; 0: half of what the machine has left.
  uint64_t together_bytes = 0;
};

// The outcomes of hone.v1.MeasureOutcome that a run can have.
enum class RunOutcome : uint32_t {
  kNone = 0,  // not decided yet
  kOk = 1,
  kLoadError = 2,
  kCrash = 3,
  kRunTimeout = 4,
  kWrongOutput = 5,
  kOutOfMemory = 6,
  kDeviceLost = 7,
};

// What a child is doing. If it dies, the message names the stage.
enum class RunStage : uint32_t { kStarting, kLoading, kReference, kChecking, kTiming };

// The report about one candidate. The zygote writes it, and no child can see it.
struct RunReport {
  RunOutcome outcome = RunOutcome::kNone;
  uint32_t sample_count = 0;
  uint32_t dirty_chunks = 0;
  uint32_t is_noisy = 0;
  uint32_t constants_rotate = 0;
  double samples_ns[kMaxSamples] = {};
  double calibrator_ns[kMaxSamples] = {};
  double error_ratio = 0;
  int64_t sandbox_ns = 0;
  int64_t check_ns = 0;
  int64_t timing_ns = 0;
  char message[1024] = {};
};

// The first page of a file of reference outputs. After it come, for each input set and each output,
// the values and then the magnitudes, as float64 in row-major order.
struct ReferenceHeader {
  uint32_t is_complete = 0;
  uint32_t output_count = 0;
  uint64_t element_count[kMaxOutputs] = {};
};
static_assert(sizeof(ReferenceHeader) <= kPageBytes);

// Copies as much of the message as fits, and a zero byte.
void SetMessage(RunReport* report, const char* message);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_RUN_PROTOCOL_H_
