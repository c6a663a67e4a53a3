// What a large tuning database costs: its size, and what is asked of it most.
//
//   tuning_db_cost DATABASE [--records N] [--json FILE]
//
// Fills DATABASE with N records where it is not there, as jobs of a farm would (proposed, leased
// and settled in batches), and times questions. Configs are as long as those of real searches, and
// two thirds of them are distinct, as in real databases.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/digest.h"
#include "support/random.h"
#include "tuning_db/resolve.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

constexpr int kTasks = 1000;
constexpr int kTasksOfAModel = 60;
constexpr int kBatch = 500;
constexpr char kSignature[] = "NCHW16c->NCHW16c";

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  fmt::print(stderr, "{}\n", value.status().ToString());
  std::exit(1);
}

std::string TargetOf(int task) {
  return fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=znver{} -threads={}", 1 + task / 60 % 5,
                     1 << task / 300);
}

Task MakeTask(int n) {
  Task task;
  task.workload = fmt::format("fn (p0: Tensor[(1, {}, 56, 56), float32]) {{ nn.conv2d(p0) }}", n);
  task.workload_digest = Sha256Hex(task.workload);
  task.anchor_digest = Sha256Hex("anchor" + task.workload);
  task.target = TargetOf(n);
  return task;
}

class Filler {
 public:
  Filler(Store& store, int64_t records) : store_(store), records_(records) {}

  void Run() {
    for (int n = 0; n < kTasks; ++n) tasks_.push_back(Must(store_.EnsureTask(MakeTask(n))));
    for (int job = 0; job * kTasksOfAModel < kTasks; ++job) Submit(job);
    for (int64_t done = 0; done < records_; done += kBatch) Settle(done);
    for (const int64_t task : tasks_) AddFinal(task);
  }

 private:
  void Submit(int n) {
    Job job;
    job.client_id = fmt::format("job {}", n);
    job.model = "model";
    for (int i = n * kTasksOfAModel; i < std::min((n + 1) * kTasksOfAModel, kTasks); ++i) {
      job.tasks.push_back({tasks_[static_cast<size_t>(i)], kSignature, "conv", 1, 1000});
    }
    jobs_.push_back(Must(store_.SubmitJob(job)).id);
  }

  std::string Config(uint64_t n) const {
    return fmt::format(
        R"({{"epilogue":"registers","order":"n_m","prefetch":"none","right":"packed",)"
        R"("strategy":"direct","tile_h":{},"tile_v":{},"tile_w":{},"unroll":{}}})",
        n % 100, n / 100 % 100, n / 10'000 % 100, n / 1'000'000);
  }

  Trial MakeTrial(int64_t n) {
    const auto task = static_cast<size_t>(n / kBatch) % tasks_.size();
    Trial trial;
    trial.task = tasks_[task];
    trial.signature = kSignature;
    trial.config = Config(random_.Below(static_cast<uint64_t>(records_)));
    trial.config_digest = Sha256Hex(trial.config);
    trial.nest_digest = Sha256Hex(fmt::format("nest {}", n));
    trial.purpose = n % 100 == 1 ? Purpose::kConfirm : Purpose::kSearch;
    trial.round = n / kBatch / kTasks;
    trial.job = jobs_[task / kTasksOfAModel];
    return trial;
  }

  Record MakeRecord(int64_t trial) {
    Record record;
    record.trial = trial;
    record.median_ns = 1000 + random_.Uniform() * 1e6;
    if (random_.Below(50) == 0) {
      record.outcome = static_cast<Outcome>(1 + random_.Below(8));
      record.median_ns = 0;
      record.message = "it took longer than ten times the default config's time";
    } else {
      for (int i = 0; i < 10; ++i) record.samples_ns.push_back(record.median_ns + i * 0.37);
    }
    record.calibrator_ns = 100.25 + random_.Uniform();
    record.anchor_ns = record.median_ns * 1.1;
    record.error_ratio = random_.Uniform();
    record.artifact_digest = Sha256Hex(fmt::format("artifact {}", trial));
    record.toolchain = "llvm 19.1.7";
    record.device = fmt::format("cpu {}", random_.Below(20));
    record.regime = "warm";
    record.worker = fmt::format("worker-{}", random_.Below(200));
    record.wall_time_ns = 1'700'000'000'000'000'000 + trial * 1'000'000'000;
    return record;
  }

  void Settle(int64_t first) {
    std::vector<Trial> wanted;
    for (int64_t n = first; n < std::min(first + kBatch, records_); ++n) {
      wanted.push_back(MakeTrial(n));
    }
    std::vector<LeaseRequest> requests;
    for (const Trial& trial : Must(store_.Propose(wanted))) {
      if (trial.state == TrialState::kProposed) {
        requests.push_back({.trial = trial.id, .worker = "worker-1", .device = "cpu"});
      }
    }
    std::promise<TrialStore::LeaseAnswers> leased;
    Check(store_.LeaseMany(requests, [&](auto answers) { leased.set_value(std::move(answers)); }));
    std::vector<Settlement> settlements;
    for (auto& trial : leased.get_future().get()) {
      settlements.push_back({.fence = Must(trial).fence, .record = MakeRecord(trial->id)});
    }
    std::promise<TrialStore::SettleAnswers> settled;
    Check(store_.SettleMany(settlements,
                            [&](auto answers) { settled.set_value(std::move(answers)); }));
    for (auto& answer : settled.get_future().get()) Must(answer);
  }

  static void Check(const absl::Status& status) {
    if (status.ok()) return;
    fmt::print(stderr, "{}\n", status.ToString());
    std::exit(1);
  }

  void AddFinal(int64_t task) {
    Final final;
    final.task = task;
    final.signature = kSignature;
    final.distinct_trials = final.space_size = 1000;
    for (uint64_t n = 0; n < 6; ++n) {
      final.entries.push_back({Config(n), "nest", "artifact", std::vector<double>(15, 1000.5), 1000,
                               1 + static_cast<double>(n) / 10});
    }
    final.winner = 5;
    Must(store_.AddFinal(final));
  }

  Store& store_;
  const int64_t records_;
  Random random_{7};
  std::vector<int64_t> tasks_;
  std::vector<int64_t> jobs_;
};

// The median of several times, in milliseconds, and the first.
struct Times {
  double median_ms = 0;
  double first_ms = 0;
};

Times Time(const std::function<void()>& ask, int repeats = 21) {
  std::vector<double> times_ms;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ask();
    times_ms.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  const double first_ms = times_ms[0];
  std::ranges::nth_element(times_ms, times_ms.begin() + repeats / 2);
  return {times_ms[static_cast<size_t>(repeats / 2)], first_ms};
}

class Questions {
 public:
  Questions(std::string path, int64_t records) : path_(std::move(path)), records_(records) {}

  nlohmann::json Ask() {
    Note("start", [&] { Must(OpenSqliteStore(path_, OpenMode::kReadWrite)); });
    const auto store = Must(OpenSqliteStore(path_, OpenMode::kReadOnly));
    const std::string target = TargetOf(0);
    std::vector<ResolveKey> keys;
    for (int n = 0; n < kTasksOfAModel; ++n)
      keys.push_back({MakeTask(n).workload_digest, kSignature});
    Note("exact lookup", [&] { Must(Resolve(*store, target, {keys[7]})); });
    Note("all kernels of a model", [&] { Must(Resolve(*store, target, keys)); });
    Note("log best of a model", [&] { Must(store->Finals({.target = target})); });
    Note("statistics", [&] { Must(store->Stats({})); });
    Note("statistics of a target", [&] { Must(store->Stats({.target_part = "znver3"})); });
    Note("progress of a job", [&] { Must(store->Progress(1)); });
    const int64_t first_ns = 1'700'000'000'000'000'000;
    const std::vector<std::pair<std::string, RecordFilter>> filters = {
        {"none", {}},
        {"task", {.task = 7}},
        {"job", {.job = 3}},
        {"no job", {.job = 0}},
        {"purpose search", {.purpose = Purpose::kSearch}},
        {"purpose confirm", {.purpose = Purpose::kConfirm}},
        {"purpose rerun", {.purpose = Purpose::kRerun}},
        {"target", {.target = target}},
        {"workload", {.workload_substring = "(1, 77, "}},
        {"every workload", {.workload_substring = "conv2d"}},
        {"no workload", {.workload_substring = "nothing"}},
        {"outcome ok", {.outcome = Outcome::kOk}},
        {"outcome crash", {.outcome = Outcome::kCrash}},
        {"outcome cancelled", {.outcome = Outcome::kCancelled}},
        {"device", {.device = "cpu 3"}},
        {"no device", {.device = "none"}},
        {"operator", {.op = "nn.conv2d"}},
        {"no operator", {.op = "nn.dense"}},
        {"shape", {.shape = "1x77x56x56"}},
        {"a part of a target", {.target_part = "znver3"}},
        {"every target", {.target_part = "llvm"}},
        {"failures", {.is_failure = true}},
        {"beginnings of devices", {.device_prefix = "cpu 1"}},
        {"every device", {.device_prefix = "cpu"}},
        {"the newer half", {.since_wall_ns = first_ns + records_ / 2 * 1'000'000'000}},
        {"the older half", {.before_wall_ns = first_ns + records_ / 2 * 1'000'000'000}},
        {"no time", {.before_wall_ns = 1}},
        {"operator and device", {.op = "nn.conv2d", .device_prefix = "cpu 3"}},
        {"shape and every device", {.shape = "1x77x56x56", .device_prefix = "cpu"}},
        {"a part of a target and failures", {.target_part = "znver3", .is_failure = true}},
        {"every target and an old hour",
         {.target_part = "llvm",
          .since_wall_ns = first_ns,
          .before_wall_ns = first_ns + 3'600'000'000'000}},
        {"device and the older half",
         {.device_prefix = "cpu 3", .before_wall_ns = first_ns + records_ / 2 * 1'000'000'000}},
        {"job and device", {.job = 3, .device_prefix = "cpu 3"}},
        {"job and a part of another target", {.job = 3, .target_part = "threads=8"}},
        {"an old hour",
         {.since_wall_ns = first_ns, .before_wall_ns = first_ns + 3'600'000'000'000}},
        {"all but the oldest", {.since_wall_ns = first_ns + 1'000'000'000'000}},
        {"task and outcome crash", {.task = 7, .outcome = Outcome::kCrash}},
        {"job and outcome crash", {.job = 3, .outcome = Outcome::kCrash}},
        {"job and purpose confirm", {.job = 3, .purpose = Purpose::kConfirm}},
        {"target and purpose confirm", {.purpose = Purpose::kConfirm, .target = target}},
        {"target and outcome crash", {.target = target, .outcome = Outcome::kCrash}},
        {"target and workload", {.target = target, .workload_substring = "(1, 7, "}},
        {"target and device", {.target = target, .device = "cpu 3"}},
        {"target and an old hour",
         {.target = target,
          .since_wall_ns = first_ns,
          .before_wall_ns = first_ns + 3'600'000'000'000}},
        {"workload and outcome ok", {.workload_substring = "(1, 77, ", .outcome = Outcome::kOk}},
        {"purpose confirm and outcome crash",
         {.purpose = Purpose::kConfirm, .outcome = Outcome::kCrash}},
        {"device and outcome crash", {.outcome = Outcome::kCrash, .device = "cpu 3"}},
        {"device and purpose confirm", {.purpose = Purpose::kConfirm, .device = "cpu 3"}},
        {"device and an old hour",
         {.device = "cpu 3",
          .since_wall_ns = first_ns,
          .before_wall_ns = first_ns + 3'600'000'000'000}},
        {"outcome crash and all but the oldest",
         {.outcome = Outcome::kCrash, .since_wall_ns = first_ns + 1'000'000'000'000}},
    };
    for (const auto& [name, filter] : filters) {
      for (const Order order : {Order::kNewestFirst, Order::kOldestFirst}) {
        Note(fmt::format("first page by {}{}", name,
                         order == Order::kNewestFirst ? "" : ", oldest first"),
             [&] { Must(store->ListRecords(filter, order, "", 50)); });
      }
    }
    return questions_;
  }

 private:
  void Note(const std::string& name, const std::function<void()>& ask) {
    const Times times = Time(ask);
    fmt::print("{:<45} {:>9.3f} ms, the first {:.3f} ms\n", name, times.median_ms, times.first_ms);
    questions_.push_back(
        {{"question", name}, {"median_ms", times.median_ms}, {"first_ms", times.first_ms}});
  }

  const std::string path_;
  const int64_t records_;
  nlohmann::json questions_ = nlohmann::json::array();
};

int Main(int argc, char** argv) {
  CLI::App app{"What a large tuning database costs"};
  std::string path;
  std::string json_path;
  int64_t records = 1'000'000;
  app.add_option("database", path)->required();
  app.add_option("--records", records)->capture_default_str();
  app.add_option("--json", json_path, "Writes the figures there");
  CLI11_PARSE(app, argc, argv);
  double fill_s = 0;
  if (!std::filesystem::exists(path)) {
    const auto store = Must(OpenSqliteStore(path, OpenMode::kCreate));
    fill_s = Time([&] { Filler(*store, records).Run(); }, 1).first_ms * 1e-3;
    fmt::print("filled in {:.1f} s, {:.0f} trials a second\n", fill_s,
               static_cast<double>(records) / fill_s);
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  fmt::print("{:.1f} MB, {:.0f} bytes a record\n", bytes * 1e-6,
             bytes / static_cast<double>(records));
  nlohmann::json figures = {{"records", records}, {"bytes", bytes}, {"fill_s", fill_s}};
  figures["questions"] = Questions(path, records).Ask();
  if (!json_path.empty()) std::ofstream(json_path) << figures.dump(1) << "\n";
  return 0;
}

}  // namespace
}  // namespace hone::tuning_db

int main(int argc, char** argv) { return hone::tuning_db::Main(argc, argv); }
