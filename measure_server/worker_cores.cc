#include "measure_server/worker_cores.h"

#include <fmt/format.h>
#include <sched.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "measure_server/core_list.h"
#include "runtime/thread_team.h"
#include "support/status.h"

namespace hone::measure {

absl::Status UseCores(const std::string& list, int threads) {
  if (list.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const std::vector<int> cores, ParseCores(list));
  const std::vector<int> usable = UsableCores();
  if (!std::ranges::includes(usable, cores)) {
    return absl::InvalidArgumentError(
        fmt::format("expected for --cores some of {}, which this process may use, found {}",
                    CoresText(usable), CoresText(cores)));
  }
  if (threads > static_cast<int>(cores.size())) {
    return absl::InvalidArgumentError(
        fmt::format("expected at least as many --cores as --threads ({}), found {}: {}", threads,
                    cores.size(), CoresText(cores)));
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof(set), &set) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the system does not let this process use the cores {} (--cores): {}",
                  CoresText(cores), std::strerror(errno)));
}

std::vector<int> MeasuredCores(int threads) {
  const std::vector<int> usable = UsableCores();
  const auto count =
      std::min(static_cast<std::ptrdiff_t>(threads), static_cast<std::ptrdiff_t>(usable.size()));
  return {usable.end() - count, usable.end()};
}

absl::StatusOr<HeldCores> HoldCores(const std::vector<int>& cores, bool are_chosen) {
  HeldCores held(cores);
  if (held.taken().empty()) return held;
  const std::string sentence = fmt::format(
      "another worker of this machine measures on {}, too, and each disturbs the other's times: "
      "give each worker --cores of its own",
      held.TakenText());
  if (are_chosen) return absl::FailedPreconditionError(sentence);
  spdlog::warn("{}", sentence);
  return held;
}

}  // namespace hone::measure
