#include "measure_server/round_check.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

namespace hone::measure {

double ProcessorNs(pid_t pid) {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

std::string FindFalseCount(const RoundLog& log, const Plan& plan, const SeenRound& seen) {
  const auto runs = static_cast<uint64_t>(log.warmup_runs) +
                    static_cast<uint64_t>(log.runs) * static_cast<uint64_t>(log.chunks.size());
  if (runs != seen.runs) {
    return fmt::format("its process says that it ran {} times, and was seen to run {} times", runs,
                       seen.runs);
  }
  if (!IsWhole(log, plan)) {
    return fmt::format("its process timed {} chunks, which is not what its plan asks for",
                       log.chunks.size());
  }
  return "";
}

std::string FindFalseTime(const RoundLog& log, const SeenRound& seen) {
  double said_ns = log.warmup_ns;
  for (const RoundLog::Chunk& chunk : log.chunks) said_ns += chunk.wall_ns + chunk.calibrator_ns;
  constexpr double kRoundingNs = 1e3;
  const double least_ns = kLeastShare * std::min(seen.wall_ns, seen.cpu_ns) - kUnexplainedNs;
  if (said_ns <= seen.wall_ns + kRoundingNs && said_ns >= least_ns) return "";
  return fmt::format(
      "the times that its process reports do not agree with the clock: {:.3f} ms of runs, where "
      "{:.3f} ms passed and it computed for {:.3f} ms",
      said_ns * 1e-6, seen.wall_ns * 1e-6, seen.cpu_ns * 1e-6);
}

}  // namespace hone::measure
