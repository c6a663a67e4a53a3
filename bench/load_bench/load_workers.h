// Many simulated workers in this process, and what they saw of the daemon.
#ifndef HONE_BENCH_LOAD_BENCH_LOAD_WORKERS_H_
#define HONE_BENCH_LOAD_BENCH_LOAD_WORKERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hone::bench {

struct LoadWorkersOptions {
  std::string address;
  std::vector<std::string> targets;  // worker n has the n-th of them, in turns
  int workers = 0;
  double measure_ms = 0;
  double warm_up_s = 0;
  double seconds = 0;
  int open_jobs = 0;  // of each target; 0: the workers are idle
  int tasks = 0;
  int trials = 0;
};

// Prints "measuring" when the warm-up is over, then one line of JSON. Returns the exit code.
int RunLoadWorkers(const LoadWorkersOptions& options);

}  // namespace hone::bench

#endif  // HONE_BENCH_LOAD_BENCH_LOAD_WORKERS_H_
