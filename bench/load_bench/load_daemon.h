// The daemon under load. Its service, loop, dispatcher and SQLite store are the real ones; only its
// lowerer, search and builder do nothing (null_tuner.h).
#ifndef HONE_BENCH_LOAD_BENCH_LOAD_DAEMON_H_
#define HONE_BENCH_LOAD_BENCH_LOAD_DAEMON_H_

#include <cstddef>
#include <string>

namespace hone::bench {

struct LoadDaemonOptions {
  std::string database;
  std::string socket;
  size_t artifact_bytes = 0;
};

// Prints "ready ADDRESS" and serves until SIGTERM. Returns the exit code.
int RunLoadDaemon(const LoadDaemonOptions& options);

}  // namespace hone::bench

#endif  // HONE_BENCH_LOAD_BENCH_LOAD_DAEMON_H_
