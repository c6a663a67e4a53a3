#include "tests/farm_simulator/farm.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/digest.h"
#include "tests/tuner/fakes.h"

namespace hone::sim {

using tuning_db::Job;

namespace {

constexpr int64_t kPatienceNs = kHour;  // for jobs to end, once nothing goes wrong any more
constexpr int64_t kAfterwardsNs = 90 * kSecond;  // for leases to end that nobody waits for
constexpr char kSignature[] = "NC->NC";

}  // namespace

Farm::Farm(const Scenario &scenario, const Plant &plant)
    : scenario_(scenario),
      plant_(plant),
      queue_(scenario.seed),
      store_clock_(&queue_, 0),
      store_(plant.store ? plant.store(store_clock_, &queue_, &history_)
                         : std::make_unique<WatchedStore>(store_clock_, &queue_, &history_)),
      network_(&queue_, &history_) {
  // The loop settles some failures by calls that wait.
  store_->weather.commits_at_once = scenario_.runs_loop;
  if (plant_.network) plant_.network(network_.weather);
}

Farm::~Farm() = default;

RunOutcome Farm::Run() {
  StartDaemon();
  AddWorkers();
  SubmitJobs();
  PlanChaos();
  const int64_t limit_ns = scenario_.chaos_ns + kPatienceNs;
  std::optional<int64_t> end_ns;
  int64_t next_look_ns = 0;
  while (queue_.RunOne()) {
    const int64_t now_ns = queue_.now_ns();
    if (daemon_ != nullptr && daemon_->is_dead()) {
      daemon_.reset();
      queue_.After(queue_.Between(50 * kMillisecond, 3 * kSecond), [this] { StartDaemon(); });
    }
    if (now_ns > end_ns.value_or(limit_ns)) break;
    if (end_ns || is_chaos_ || now_ns < next_look_ns) continue;
    next_look_ns = now_ns + kSecond;
    if (AllEnded()) end_ns = now_ns + kAfterwardsNs;
  }
  return {std::move(history_), Look()};
}

void Farm::StartDaemon() {
  DaemonParts parts;
  parts.queue = &queue_;
  parts.network = &network_;
  parts.history = &history_;
  parts.store = store_.get();
  parts.runs_loop = scenario_.runs_loop;
  parts.ticks_every = plant_.ticks_every;
  daemon_ = std::make_unique<SimDaemon>(parts);
}

// ---- workers ----

WorkerTraits Farm::TraitsOf(int i) {
  WorkerTraits traits;
  traits.name = fmt::format("w{}", i);
  traits.target = tuner::kFakeTarget;
  traits.devices = static_cast<int>(queue_.Between(1, 2));
  traits.shares_cores = queue_.IsTrue(0.5);
  traits.crowds = plant_.devices_crowd;
  traits.window = static_cast<uint32_t>(queue_.Between(1, 4));
  traits.max_protocol = queue_.IsTrue(0.3) ? 2 : 3;
  traits.measure_ns = queue_.Between(50, 500) * kMillisecond;
  if (scenario_.Has(Fault::kClocks) && queue_.IsTrue(0.5)) traits.clock_off_ns = kHour;
  // The first workers are sound: somebody must carry the jobs through.
  if (i >= 2) {
    if (scenario_.Has(Fault::kHangs) && (i == 2 || queue_.IsTrue(0.05))) {
      traits.hangs_after = static_cast<int>(queue_.Between(0, 10));
    }
    if (scenario_.Has(Fault::kLies)) traits.lies = i == 3 || queue_.IsTrue(0.05);
    if (scenario_.Has(Fault::kDevices) && queue_.IsTrue(0.3)) traits.lost_share = 0.2;
    if (scenario_.Has(Fault::kTwins) && queue_.IsTrue(0.2)) traits.name = fmt::format("w{}", i - 1);
  }
  if (scenario_.Has(Fault::kLethal)) traits.lethal = {5, 17};
  return traits;
}

void Farm::AddWorkers() {
  const MeasureFunction measure = [this](const hone::v1::Assignment &assignment,
                                         const std::vector<std::string> &artifacts,
                                         int64_t serial) {
    return scenario_.runs_loop ? tuner::FakeMeasure(assignment, artifacts)
                               : MeasureDirectTrial(assignment, serial);
  };
  for (int i = 0; i < scenario_.workers; ++i) {
    workers_.push_back(
        std::make_unique<SimWorker>(&queue_, &network_, &history_, TraitsOf(i), measure));
    SimWorker *const worker = workers_.back().get();
    if (worker->traits().clock_off_ns != 0) Note(Fault::kClocks, worker->traits().name);
    if (worker->traits().name != fmt::format("w{}", i)) Note(Fault::kTwins, worker->traits().name);
    worker->on_down = [this, worker] {
      queue_.After(queue_.Between(100 * kMillisecond, 20 * kSecond), [worker] {
        if (!worker->is_up()) worker->Start();
      });
    };
    queue_.After(queue_.Between(0, 5 * kSecond), [worker] { worker->Start(); });
  }
}

SimWorker &Farm::AnyWorker() { return *workers_[queue_.random().Below(workers_.size())]; }

// ---- jobs ----

void Farm::SubmitJobs() {
  for (int i = 0; i < scenario_.jobs; ++i) {
    queue_.After(queue_.Between(0, scenario_.chaos_ns / 3), [this, i] { Submit(i); });
  }
}

void Farm::Submit(int i) {
  Job job;
  job.client_id = fmt::format("client {}", i);
  job.model = "model";
  job.target = tuner::kFakeTarget;
  job.seed = scenario_.seed;
  job.search = "fake";
  job.priority = static_cast<int>(queue_.random().Below(2));
  // With the loop a job's trials are of two tasks, and one of them is shared
  // with the job before.
  const int tasks = scenario_.runs_loop ? 2 : 1;
  for (int t = 0; t < tasks; ++t) {
    tuning_db::Task task;
    task.workload = fmt::format("conv {}", i + t);
    task.workload_digest = Sha256Hex(task.workload);
    task.target = job.target;
    tuning_db::JobTask wanted;
    wanted.task = store_->EnsureTask(task).value();
    wanted.signature = kSignature;
    wanted.name = task.workload;
    wanted.trials = scenario_.trials / tasks;
    job.tasks.push_back(wanted);
  }
  const int64_t id = store_->SubmitJob(job).value().id;
  if (daemon_ != nullptr && !daemon_->is_dead()) daemon_->jobs().JobSubmitted(id);
  if (scenario_.runs_loop && scenario_.Has(Fault::kPauses)) PauseSometime(id);
  if (!scenario_.Has(Fault::kCancels) || queue_.IsTrue(0.5)) return;
  queue_.After(queue_.Between(0, 10 * kSecond), [this, id] { CancelJob(id); });
}

void Farm::PauseSometime(int64_t job) {
  queue_.After(queue_.Between(0, 10 * kSecond), [this, job] {
    if (daemon_ != nullptr && !daemon_->is_dead()) daemon_->jobs().PauseJob(job);
    queue_.After(kSecond / 2, [this, job] {
      if (store_->GetJob(job)->state == tuning_db::JobState::kPaused) Note(Fault::kPauses);
    });
    ResumeSometime(job);
  });
}

void Farm::ResumeSometime(int64_t job) {
  queue_.After(queue_.Between(kSecond, 10 * kSecond), [this, job] {
    if (store_->GetJob(job)->state != tuning_db::JobState::kPaused) return;
    if (daemon_ != nullptr && !daemon_->is_dead()) daemon_->jobs().ResumeJob(job);
    ResumeSometime(job);  // unless it was heard
  });
}

bool Farm::AllEnded() {
  const std::vector<Job> jobs = store_->Jobs().value();
  return std::all_of(jobs.begin(), jobs.end(), [](const Job &job) { return HasEnded(job.state); });
}

EndState Farm::Look() {
  EndState end;
  end.records = store_->Records({}).value();
  end.open = store_->OpenTrials(0).value();
  end.jobs = store_->Jobs().value();
  for (const Job &job : end.jobs) end.job_events[job.id] = store_->ListEvents(job.id, 0, 0).value();
  end.unsound = store_->Check().value();
  return end;
}

}  // namespace hone::sim
