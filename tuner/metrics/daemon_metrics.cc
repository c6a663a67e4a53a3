#include "tuner/metrics/daemon_metrics.h"

#include <utility>

namespace hone::tuner {
namespace {

using Type = Metric::Type;

class Metrics {
 public:
  void Add(std::string name, std::string help, Type type, double value) {
    all_.push_back({std::move(name), std::move(help), type, {{{}, value}}});
  }
  // One line for each of a few values of a label.
  template <typename Value>
  void Add(std::string name, std::string help, Type type, const std::string& label,
           const std::map<std::string, Value>& values) {
    Metric metric = {std::move(name), std::move(help), type, {}};
    for (const auto& [key, value] : values) {
      metric.samples.push_back({{{label, key}}, static_cast<double>(value)});
    }
    all_.push_back(std::move(metric));
  }
  void Add(std::string name, std::string help, Histogram::Totals totals) {
    all_.push_back(
        {std::move(name), std::move(help), Type::kHistogram, {{{}, 0, std::move(totals)}}});
  }
  void Add(Metric metric) { all_.push_back(std::move(metric)); }

  std::vector<Metric> Take() { return std::move(all_); }

 private:
  std::vector<Metric> all_;
};

void AddJobs(const DaemonFigures& figures, Metrics& metrics) {
  if (figures.jobs) {
    metrics.Add("hone_jobs", "Jobs that have not ended.", Type::kGauge, "state", *figures.jobs);
  }
  metrics.Add("hone_jobs_ended_total", "Jobs that ended at this daemon.", Type::kCounter, "state",
              figures.jobs_ended);
}

void AddFarm(const FarmFigures& farm, Metrics& metrics) {
  metrics.Add("hone_queued_trials", "Trials that are built and wait for a device.", Type::kGauge,
              "target_kind", farm.queued);
  metrics.Add("hone_underway_trials", "Trials that are being leased or released.", Type::kGauge,
              static_cast<double>(farm.underway));
  metrics.Add("hone_leases", "Leases that are open.", Type::kGauge, "state", farm.leases);
  metrics.Add("hone_leases_lost_total", "Leases that ended without a result.", Type::kCounter,
              static_cast<double>(farm.leases_lost));
  metrics.Add("hone_lease_duration_seconds", "From the offer of a lease to its end.",
              farm.lease_seconds);
  metrics.Add("hone_results_settled_total", "Results that were stored.", Type::kCounter, "outcome",
              farm.settled);
  metrics.Add("hone_settle_duration_seconds", "From the arrival of a result to its commit.",
              farm.settle_seconds);
  metrics.Add("hone_workers", "Workers that are connected.", Type::kGauge, "state", farm.workers);
  metrics.Add("hone_devices", "Devices of these.", Type::kGauge, "state", farm.devices);
  metrics.Add("hone_stream_queue_messages", "Messages that wait to be written to workers.",
              Type::kGauge, static_cast<double>(farm.stream_messages));
  metrics.Add("hone_stream_queue_longest_messages", "Of the worker with the most.", Type::kGauge,
              static_cast<double>(farm.longest_stream_queue));
}

void AddWork(const DaemonFigures& figures, Metrics& metrics) {
  metrics.Add("hone_open_builds", "Candidates that are being built or wait for that.", Type::kGauge,
              static_cast<double>(figures.builds.open));
  metrics.Add("hone_builds_total", "Candidates that were built, or not.", Type::kCounter, "outcome",
              figures.builds.ended);
  metrics.Add("hone_build_duration_seconds", "Of a build, without waiting.",
              figures.builds.seconds);
  metrics.Add("hone_phase_seconds_total", "What building and measuring took, by phase.",
              Type::kCounter, "phase", figures.phase_seconds);
}

void AddStore(const tuning_db::CommitTotals& commits, Metrics& metrics) {
  metrics.Add("hone_store_changes_total", "Changes that were given to the tuning database.",
              Type::kCounter, static_cast<double>(commits.changes));
  metrics.Add("hone_store_failed_transactions_total", "Transactions of it that failed.",
              Type::kCounter, static_cast<double>(commits.failed));
  metrics.Add("hone_store_commit_duration_seconds", "Of a transaction of it, synced.",
              commits.seconds);
}

void AddRpcs(const DaemonFigures& figures, Metrics& metrics) {
  Metric rpcs = {"hone_rpcs_total", "Calls that have ended.", Type::kCounter, {}};
  for (const auto& [key, count] : figures.rpcs) {
    rpcs.samples.push_back(
        {{{"method", key.first}, {"code", key.second}}, static_cast<double>(count)});
  }
  metrics.Add(std::move(rpcs));
}

void AddProcess(const ProcessFigures& process, Metrics& metrics) {
  metrics.Add("process_cpu_seconds_total", "Processor time, of the system's calls too.",
              Type::kCounter, process.cpu_seconds);
  metrics.Add("process_start_time_seconds", "Since 1970.", Type::kGauge,
              process.start_time_seconds);
  metrics.Add("process_resident_memory_bytes", "Memory that is there.", Type::kGauge,
              process.resident_bytes);
  metrics.Add("process_virtual_memory_bytes", "Memory that is mapped.", Type::kGauge,
              process.virtual_bytes);
  metrics.Add("process_threads", "Threads.", Type::kGauge, process.threads);
  metrics.Add("process_open_fds", "Open file descriptors.", Type::kGauge, process.open_descriptors);
  metrics.Add("process_max_fds", "How many may be open.", Type::kGauge, process.most_descriptors);
}

}  // namespace

std::vector<Metric> MetricsOf(const DaemonFigures& figures) {
  Metrics metrics;
  metrics.Add({"hone_build_info",
               "The release that runs.",
               Type::kGauge,
               {{{{"version", figures.version}}, 1}}});
  AddJobs(figures, metrics);
  if (figures.farm) AddFarm(*figures.farm, metrics);
  AddWork(figures, metrics);
  AddStore(figures.commits, metrics);
  metrics.Add("hone_thread_queue_tasks", "What waits for a thread of the daemon.", Type::kGauge,
              "thread", figures.threads);
  AddRpcs(figures, metrics);
  AddProcess(figures.process, metrics);
  return metrics.Take();
}

}  // namespace hone::tuner
