// A daemon in small, to be killed at any moment: brings the database to the end of a fixed script,
// from wherever it stands, as a daemon resumes its jobs. Every change that was acknowledged to it
// is a line of ACK_LOG.
//
//   crash_child DATABASE ACK_LOG TRIALS THREADS
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/crash_point.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/log_io.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

constexpr int64_t kRanNs = 5'000'000'000;
constexpr int kImported = 3;

class Script {
 public:
  Script(Store& store, int ack_log, int trials, int threads)
      : store_(store), ack_log_(ack_log), trials_(trials), threads_(threads) {}

  void Run() {
    task_ = Must(store_.EnsureTask(ExampleTask()));
    Acknowledge("task", task_);
    job_ = Must(store_.SubmitJob(ExampleJob(task_))).id;
    Acknowledge("job", job_);
    TakeJob();
    SetState(JobState::kQueued, JobState::kRunning);
    ProposeAll();
    SettleAll();
    NoteRunningTime();
    ConfirmWinner();
    RunFinal();
    ImportElsewhere();
    TimeModel();
    CountMiss();
    SetState(JobState::kRunning, JobState::kDone);
  }

 private:
  template <typename T>
  T Must(absl::StatusOr<T> value) {
    Must(value.status());
    return *std::move(value);
  }
  void Must(const absl::Status& status) {
    if (status.ok()) return;
    fmt::print(stderr, "{}\n", status.ToString());
    std::exit(1);
  }

  void Acknowledge(const char* word, int64_t id) {
    const std::string line = fmt::format("{} {}\n", word, id);
    if (write(ack_log_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(1);
    CrashPoint("script.acknowledged");
  }

  void TakeJob() {
    self_ = Must(store_.BeginEpoch("crash-child", kRanNs));
    Must(store_.TakeJobs(self_, kRanNs));
    const bool is_held = !Must(store_.RenewJobs(self_, kRanNs)).empty();
    if (!is_held && !HasEnded(Must(store_.GetJob(job_)).state)) std::exit(1);
    Must(store_.SetDeviceRest({"worker", "cpu", 2, 1, kRanNs, "as the script says"}));
    Acknowledge("rest", 1);
  }

  void SetState(JobState from, JobState to) {
    if (Must(store_.GetJob(job_)).state != from) return;
    Must(store_.SetJobState(self_, job_, to, "as the script says"));
    Acknowledge("state", static_cast<int>(to));
  }

  void ProposeAll() {
    for (int n = 0; n < trials_; n += 4) {
      std::vector<Trial> batch;
      for (int i = n; i < n + 4 && i < trials_; ++i) batch.push_back(ExampleTrial(task_, job_, i));
      for (const Trial& trial : Must(store_.Propose(self_, batch)))
        Acknowledge("proposed", trial.id);
    }
  }

  std::vector<Trial> OpenTrials(Purpose purpose) {
    std::vector<Trial> open = Must(store_.OpenTrials(job_));
    std::erase_if(open, [&](const Trial& trial) { return trial.purpose != purpose; });
    return open;
  }

  void SettleAll() {
    const std::vector<Trial> open = OpenTrials(Purpose::kSearch);
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i; (i = next++) < open.size();) SettleOne(open[i]);
    };
    std::vector<std::thread> others;
    for (int n = 1; n < threads_; ++n) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }

  void SettleOne(const Trial& trial) {
    Trial leased = Lease(trial);
    if (trial.id % 3 == 0) {
      Must(store_.Release(trial.id, leased.fence, /*is_strike=*/true));
      leased = Lease(trial);
    }
    const Record record = ExampleRecord(trial.id, 1000.0 + static_cast<double>(trial.id));
    if (Must(store_.Settle(leased.fence, record)) != SettleResult::kSettled) std::exit(1);
    Acknowledge("settled", trial.id);
    if (Must(store_.Settle(leased.fence, record)) != SettleResult::kDuplicate) std::exit(1);
  }

  Trial Lease(const Trial& trial) {
    const Trial leased = Must(store_.Lease({.trial = trial.id,
                                            .worker = "worker",
                                            .device = "cpu",
                                            .limit_ns = kRanNs,
                                            .ownership = self_}));
    Acknowledge("leased", leased.fence);
    return leased;
  }

  void NoteRunningTime() {
    if (Must(store_.GetJob(job_)).state != JobState::kRunning) return;
    Must(store_.SetJobRan(self_, job_, kRanNs));
    Acknowledge("ran", kRanNs);
  }

  void ConfirmWinner() {
    Trial wanted = ExampleTrial(task_, job_);
    wanted.purpose = Purpose::kConfirm;
    Acknowledge("proposed", Must(store_.Propose({wanted})).at(0).id);
    for (const Trial& trial : OpenTrials(Purpose::kConfirm)) {
      const int64_t fence = Lease(trial).fence;
      const Record record = ExampleRecord(trial.id);
      const Final final = ExampleFinal(task_, job_, trials_);
      if (Must(store_.SettleFinal(fence, record, final)) != SettleResult::kSettled) std::exit(1);
      Acknowledge("settled", trial.id);
      Acknowledge("final", 1);
      if (Must(store_.SettleFinal(fence, record, final)) != SettleResult::kDuplicate) std::exit(1);
    }
  }

  // A second one, of more trials, of no trial.
  void RunFinal() {
    if (Must(store_.NewestFinal(task_, kSignature))->distinct_trials > trials_) return;
    Acknowledge("final", Must(store_.AddFinal(ExampleFinal(task_, job_, trials_ + 1))));
  }

  // The log of another database.
  void ImportElsewhere() {
    const auto elsewhere = MakeMemoryStore();
    const int64_t task = Must(elsewhere->EnsureTask(ExampleTask(1)));
    for (int n = 0; n < kImported; ++n) {
      Must(elsewhere->Import(ExampleTrial(task, 0, n), ExampleRecord(0)));
    }
    Must(elsewhere->AddFinal(ExampleFinal(task, 0)));
    std::stringstream log;
    Must(ExportLog(*elsewhere, {}, log));
    const LogCounts counts = Must(ImportLog(store_, log));
    if (counts.records + counts.finals + counts.known != kImported + 1) std::exit(1);
    Acknowledge("imported", kImported);
  }

  void TimeModel() {
    if (Must(store_.NewestModelFinal("skeleton", "llvm"))) return;
    Acknowledge("model_final", Must(store_.AddModelFinal(ExampleModelFinal("skeleton"))));
  }

  void CountMiss() {
    if (!Must(store_.ListMisses("")).empty()) return;
    const Task task = ExampleTask();
    Must(store_.RecordMisses(
        {{task.workload, task.workload_digest, kSignature, task.target, "tuning", "resnet18", 1}}));
    Acknowledge("miss", 1);
  }

  Store& store_;
  const int ack_log_;
  const int trials_;
  const int threads_;
  Ownership self_;
  int64_t task_ = 0;
  int64_t job_ = 0;
};

int Main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int ack_log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (ack_log < 0) return 1;
  auto store = OpenStore(argv[1], OpenMode::kCreate, {.address = "unix:/crash-child"});
  if (!store.ok()) {
    fmt::print(stderr, "{}\n", store.status().ToString());
    return 1;
  }
  // Without trials it opens the database, which migrates it, and no more.
  const int trials = std::atoi(argv[3]);
  if (trials > 0) Script(**store, ack_log, trials, std::atoi(argv[4])).Run();
  return 0;
}

}  // namespace
}  // namespace hone::tuning_db

int main(int argc, char** argv) { return hone::tuning_db::Main(argc, argv); }
