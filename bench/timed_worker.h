// Starts a hone-measure for a benchmark and has it time kernels.
#ifndef HONE_BENCH_TIMED_WORKER_H_
#define HONE_BENCH_TIMED_WORKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "tests/measure_server/fake_daemon.h"
#include "tests/runtime/c_module.h"

namespace hone::measure {

struct TimedKernelSource {
  std::string name;
  std::string source;       // an artifact, in C
  bool is_checked = false;  // whether outputs are compared with the sample artifacts' reference
  int64_t run_limit_ns = 20'000'000'000;
  std::string flags = "";  // for the C compiler
};

struct Timed {
  std::string outcome;  // "OK", "CRASH"
  std::string message;
  double median_ns = 0;
  double normalised = 0;  // median_ns over the median time of the calibrator beside it
  bool is_noisy = false;
};

// Owns the worker and the daemon that it is connected to. Not thread-safe.
class TimedWorker {
 public:
  // Throws if the worker does not start.
  TimedWorker();

  // The target of the worker's device, as canonical text.
  const std::string& target() const { return target_; }
  // Times the kernel on one thread. Throws if the worker is gone.
  Timed Measure(const TimedKernelSource& kernel);

 private:
  const TestFolder folder_;
  std::unique_ptr<FakeDaemon> daemon_;
  std::unique_ptr<ChildProcess> worker_;
  std::string target_;
  int64_t fence_ = 0;
};

// The kernels "compute", "l2" and "dram", each named after what bounds it on a CPU of this target:
// arithmetic, the second-level cache, or memory. Throws if the target does not state its caches.
std::vector<TimedKernelSource> BoundKernels(const std::string& target);

}  // namespace hone::measure

#endif  // HONE_BENCH_TIMED_WORKER_H_
