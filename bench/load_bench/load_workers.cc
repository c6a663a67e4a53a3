#include "bench/load_bench/load_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "bench/load_bench/alarm_clock.h"
#include "bench/load_bench/load_customers.h"
#include "bench/load_bench/simulated_worker.h"

namespace hone::bench {
namespace {

constexpr auto kWorkerPoll = std::chrono::milliseconds(20);
constexpr int64_t kConnectLimitNs = 120'000'000'000;

using Workers = std::vector<std::unique_ptr<SimulatedWorker>>;

Workers MakeWorkers(const LoadWorkersOptions& options, AlarmClock& clock) {
  Workers workers;
  for (int n = 0; n < options.workers; ++n) {
    WorkerOptions of_worker;
    of_worker.name = fmt::format("simulated-{}", n);
    of_worker.address = options.address;
    of_worker.target = options.targets[static_cast<size_t>(n) % options.targets.size()];
    of_worker.measure_ns = static_cast<int64_t>(options.measure_ms * 1e6);
    workers.push_back(std::make_unique<SimulatedWorker>(of_worker, &clock));
  }
  return workers;
}

bool Connect(Workers& workers) {
  const int64_t limit_ns = SteadyNs() + kConnectLimitNs;
  for (auto& worker : workers) worker->Start();
  for (auto& worker : workers) {
    while (!worker->IsWelcome()) {
      if (worker->IsOver() || SteadyNs() > limit_ns) return false;
      std::this_thread::sleep_for(kWorkerPoll);
    }
  }
  return true;
}

double AtShare(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

// What was sent from `begin_ns` on and before `end_ns`.
nlohmann::json Judge(const LoadWorkersOptions& options, const Workers& workers, int64_t begin_ns,
                     int64_t end_ns) {
  const double seconds = static_cast<double>(end_ns - begin_ns) * 1e-9;
  std::vector<double> waits_ms;
  std::map<std::string, double> results;    // by target
  std::map<std::string, double> of_target;  // workers
  int64_t revoked = 0;
  int64_t over = 0;
  for (const auto& worker : workers) {
    of_target[worker->target()] += 1;
    revoked += worker->revoked();
    over += worker->IsOver() ? 1 : 0;
    for (const Settled& settled : worker->settled()) {
      if (settled.sent_ns < begin_ns || settled.sent_ns >= end_ns) continue;
      results[worker->target()] += 1;
      waits_ms.push_back(static_cast<double>(settled.acknowledged_ns - settled.sent_ns) * 1e-6);
    }
  }
  std::ranges::sort(waits_ms);
  nlohmann::json busy = nlohmann::json::object();
  for (const auto& [target, count] : of_target) {
    busy[target] = results[target] * options.measure_ms * 1e-3 / (count * seconds);
  }
  return {{"workers", options.workers},
          {"measure_ms", options.measure_ms},
          {"seconds", seconds},
          {"results", waits_ms.size()},
          {"results_per_s", static_cast<double>(waits_ms.size()) / seconds},
          {"busy_share", busy},
          {"settled_p50_ms", AtShare(waits_ms, 0.5)},
          {"settled_p90_ms", AtShare(waits_ms, 0.9)},
          {"settled_p99_ms", AtShare(waits_ms, 0.99)},
          {"settled_max_ms", waits_ms.empty() ? 0 : waits_ms.back()},
          {"revoked", revoked},
          {"streams_broken", over}};
}

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

int RunLoadWorkers(const LoadWorkersOptions& options) {
  auto clock = std::make_unique<AlarmClock>();
  Workers workers = MakeWorkers(options, *clock);
  int exit_code = 1;
  if (Connect(workers)) {
    std::optional<LoadCustomers> customers;
    if (options.open_jobs > 0) {
      customers.emplace(CustomerOptions{.address = options.address,
                                        .targets = options.targets,
                                        .open_jobs = options.open_jobs,
                                        .tasks = options.tasks,
                                        .trials = options.trials});
    }
    Sleep(options.warm_up_s);
    fmt::print("measuring\n");
    std::fflush(stdout);
    const int64_t begin_ns = SteadyNs();
    Sleep(options.seconds);
    const int64_t end_ns = SteadyNs();
    Sleep(1);  // what was sent is answered
    nlohmann::json judged = Judge(options, workers, begin_ns, end_ns);
    judged["jobs_done"] = customers ? customers->done() : 0;
    judged["jobs_failed"] = customers ? customers->failed() : 0;
    fmt::print("{}\n", judged.dump());
    std::fflush(stdout);
    exit_code = 0;
  } else {
    fmt::print(stderr, "load_bench: not every worker was welcome\n");
  }
  for (auto& worker : workers) worker->End();
  for (auto& worker : workers) worker->WaitForEnd();
  clock.reset();  // before the workers that its alarms are of
  return exit_code;
}

}  // namespace hone::bench
