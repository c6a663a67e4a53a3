// A hone-measure of its own, for benchmarks of what it measures.
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
  std::string source;       // C of an artifact
  bool is_checked = false;  // against the sample artifacts' reference
  int64_t run_limit_ns = 20'000'000'000;
  std::string flags = "";  // of the compiler
};

struct Timed {
  std::string outcome;  // "OK", "CRASH"
  std::string message;
  double median_ns = 0;
  double normalised = 0;  // in times of the calibrator beside it
  bool is_noisy = false;
};

class TimedWorker {
 public:
  // Throws where it does not start.
  TimedWorker();

  // The target of its device, canonical text.
  const std::string& target() const { return target_; }
  // On one thread. Throws where the worker is gone.
  Timed Measure(const TimedKernelSource& kernel);

 private:
  const TestFolder folder_;
  std::unique_ptr<FakeDaemon> daemon_;
  std::unique_ptr<ChildProcess> worker_;
  std::string target_;
  int64_t fence_ = 0;
};

// "compute", "l2" and "dram": what bounds them on a CPU of this target.
std::vector<TimedKernelSource> BoundKernels(const std::string& target);

}  // namespace hone::measure

#endif  // HONE_BENCH_TIMED_WORKER_H_
