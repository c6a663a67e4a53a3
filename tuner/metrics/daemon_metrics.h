// The metrics of a daemon: docs/honed.md has a table of them.
#ifndef HONE_TUNER_METRICS_DAEMON_METRICS_H_
#define HONE_TUNER_METRICS_DAEMON_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/process_figures.h"
#include "tuner/farm/farm_figures.h"
#include "tuner/metered.h"
#include "tuner/metrics/metric.h"
#include "tuning_db/upkeep.h"

namespace hone::tuner {

// A snapshot of a daemon's figures. A figure that could not be asked for in time is nullopt, and
// has no lines.
struct DaemonFigures {
  std::string version;
  std::optional<std::map<std::string, size_t>> jobs;  // that have not ended, by state
  std::map<std::string, uint64_t> jobs_ended;         // by state
  std::optional<FarmFigures> farm;
  BuildCounts::Totals builds;
  std::map<std::string, double> phase_seconds;
  tuning_db::CommitTotals commits;
  std::map<std::string, size_t> threads;  // what waits for each of the daemon's threads
  std::map<std::pair<std::string, std::string>, uint64_t> rpcs;  // by method and code
  ProcessFigures process;
};

std::vector<Metric> MetricsOf(const DaemonFigures& figures);

}  // namespace hone::tuner

#endif  // HONE_TUNER_METRICS_DAEMON_METRICS_H_
