// Runs many simulated workers in this process, and reports how the daemon served them.
#ifndef HONE_BENCH_LOAD_BENCH_LOAD_WORKERS_H_
#define HONE_BENCH_LOAD_BENCH_LOAD_WORKERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hone::bench {

struct LoadWorkersOptions {
  std::string address;
  std::vector<std::string> targets;  // worker n has target n modulo their number
  int workers = 0;
  double measure_ms = 0;
  double warm_up_s = 0;
  double seconds = 0;
  // These three are as in CustomerOptions. With 0 open jobs the workers are idle.
  int open_jobs = 0;
  int tasks = 0;
  int trials = 0;
};

// Prints "measuring" when the warm-up is over, then one line of JSON. Returns the exit code.
int RunLoadWorkers(const LoadWorkersOptions& options);

}  // namespace hone::bench

#endif  // HONE_BENCH_LOAD_BENCH_LOAD_WORKERS_H_
