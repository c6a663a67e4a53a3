#include "tests/tuning_db/crash_harness.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "tests/paths.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using testing::IsEmpty;

std::unique_ptr<Store> OpenToRead(const std::string& path) {
  auto store = OpenStore(path, OpenMode::kReadOnly);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

// By value: what .value() of a temporary refers to does not live through a loop over it.
template <typename T>
T Must(absl::StatusOr<T> value) {
  return std::move(value).value();
}

std::vector<std::string> Lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// What the child was told is done.
struct Acknowledged {
  std::map<std::string, std::set<int64_t>> ids;  // by word
  std::vector<int64_t> fences;                   // in order
};

Acknowledged ReadAcknowledged(const std::string& path) {
  Acknowledged read;
  std::ifstream file(path);
  std::string word;
  for (int64_t id; file >> word >> id;) {
    read.ids[word].insert(id);
    if (word == "leased") read.fences.push_back(id);
  }
  return read;
}

bool HasFinal(Store& store) { return Must(store.NewestFinal(1, kSignature)).has_value(); }

int64_t CountImported(Store& store) {
  return static_cast<int64_t>(Must(store.Records({.job = 0})).size());
}

std::set<int64_t> SettledTrials(Store& store) {
  std::set<int64_t> trials;
  for (const Record& record : Must(store.Records({}))) {
    EXPECT_TRUE(trials.insert(record.trial).second) << "settled twice: " << record.trial;
    EXPECT_EQ(record.of_trial.state, TrialState::kSettled);
    EXPECT_TRUE(record.of_trial.purpose != Purpose::kConfirm || HasFinal(store))
        << "a confirm trial without its final";
    EXPECT_EQ(record.samples_ns, ExampleRecord(0, record.median_ns).samples_ns);
  }
  return trials;
}

std::set<int64_t> AllTrials(Store& store) {
  std::set<int64_t> trials = SettledTrials(store);
  for (const Trial& trial : Must(store.OpenTrials(0))) {
    EXPECT_NE(trial.job, 0) << "an import was left half done";
    trials.insert(trial.id);
  }
  return trials;
}

void ExpectHolds(Store& store, Acknowledged& done) {
  for (const int64_t id : done.ids["task"]) EXPECT_TRUE(store.GetTask(id).ok());
  for (const int64_t id : done.ids["job"]) EXPECT_TRUE(store.GetJob(id).ok());
  for (const int64_t state : done.ids["state"]) {
    EXPECT_GE(static_cast<int64_t>(store.GetJob(1).value().state), state);
  }
  const std::set<int64_t> trials = AllTrials(store);
  for (const int64_t id : done.ids["proposed"]) EXPECT_TRUE(trials.contains(id)) << id;
  const std::set<int64_t> settled = SettledTrials(store);
  for (const int64_t id : done.ids["settled"]) EXPECT_TRUE(settled.contains(id)) << id;
  if (!done.ids["final"].empty()) {
    EXPECT_GE(Must(store.NewestFinal(1, kSignature)).value().id, *done.ids["final"].rbegin());
  }
  for (const int64_t ran_ns : done.ids["ran"]) EXPECT_EQ(store.GetJob(1)->ran_ns, ran_ns);
  for (const int64_t count : done.ids["imported"]) EXPECT_EQ(CountImported(store), count);
  if (!done.ids["model_final"].empty()) {
    EXPECT_TRUE(Must(store.NewestModelFinal("skeleton", "llvm")).has_value());
  }
  if (!done.ids["miss"].empty()) {
    EXPECT_EQ(Must(store.ListMisses("")).size(), 1u);
  }
  EXPECT_EQ(done.ids["leased"].size(), done.fences.size()) << "a fence was given twice";
}

}  // namespace

CrashRun::End CrashRun::Live(const std::vector<std::string>& environment, int64_t kill_after_us) {
  const std::string trials = std::to_string(trials_);
  const std::string threads = std::to_string(threads_);
  const std::string path = database();
  const std::string ack_log = acks();
  std::vector<char*> variables;
  for (const std::string& variable : environment) {
    variables.push_back(const_cast<char*>(variable.c_str()));
  }
  variables.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const char* const arguments[] = {HONE_TESTS_BIN "/tuning_db_crash_child",
                                     path.c_str(),
                                     ack_log.c_str(),
                                     trials.c_str(),
                                     threads.c_str(),
                                     nullptr};
    execve(HONE_TESTS_BIN "/tuning_db_crash_child", const_cast<char* const*>(arguments),
           variables.data());
    _exit(127);
  }
  if (kill_after_us >= 0) {
    usleep(static_cast<useconds_t>(kill_after_us));
    kill(child, SIGKILL);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return End::kKilled;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::kFinished : End::kFailed;
}

CrashRun::End CrashRun::LiveUntil(const std::string& point) {
  return point.empty() ? Live({}, -1) : Live({"HONE_CRASH_AT=" + point}, -1);
}

CrashRun::End CrashRun::LiveFor(int64_t microseconds) { return Live({}, microseconds); }

std::vector<std::string> CrashRun::ListPoints() {
  const std::string log = folder_ / "points";
  EXPECT_EQ(Live({"HONE_CRASH_LOG=" + log}, -1), End::kFinished);
  return Lines(log);
}

void CrashRun::ExpectNothingLost() const {
  Acknowledged done = ReadAcknowledged(acks());
  if (address_.empty()) {
    EXPECT_FALSE(WriterOf(database()).value()) << "the dead hold no lock";
  }
  const bool is_there = address_.empty()
                            ? std::filesystem::exists(database())
                            : !absl::IsNotFound(OpenStore(address_, OpenMode::kReadOnly).status());
  if (!is_there) {
    EXPECT_TRUE(done.ids.empty());
    return;
  }
  const auto store = OpenToRead(database());
  if (store == nullptr) return;
  EXPECT_THAT(store->Check().value(), IsEmpty());
  ExpectHolds(*store, done);
}

std::string CrashRun::Summary() const {
  const auto store = OpenToRead(database());
  if (store == nullptr) return "";
  std::vector<std::string> lines;
  for (const Record& record : Must(store->Records({}))) {
    lines.push_back(fmt::format("record of {} {} job {}: {} {}", record.trial,
                                record.of_trial.config, record.of_trial.job, Name(record.outcome),
                                record.median_ns));
  }
  for (const Trial& trial : Must(store->OpenTrials(0))) {
    lines.push_back(fmt::format("open {}", trial.id));
  }
  for (const Job& job : Must(store->Jobs())) {
    lines.push_back(
        fmt::format("job {} {} {} {}", job.id, Name(job.state), job.message, job.ran_ns));
    for (const Event& event : Must(store->ListEvents(job.id, 0, 0))) {
      lines.push_back(fmt::format("event {} {}", event.kind, event.payload));
    }
  }
  const auto final = store->NewestFinal(1, kSignature).value();
  lines.push_back(
      fmt::format("final {} of {}", final ? final->id : 0, final ? final->distinct_trials : 0));
  const auto of_model = store->NewestModelFinal("skeleton", "llvm").value();
  lines.push_back(fmt::format("final of a model {} of {} kernels", of_model ? of_model->id : 0,
                              of_model ? of_model->kernels.size() : 0));
  for (const Miss& miss : Must(store->ListMisses(""))) {
    lines.push_back(fmt::format("miss {} {}", miss.model, miss.count));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> Passages(const std::vector<std::string>& points) {
  std::map<std::string, int> counts;
  std::vector<std::string> passages;
  for (const std::string& point : points) {
    passages.push_back(fmt::format("{}:{}", point, ++counts[point]));
  }
  return passages;
}

}  // namespace hone::tuning_db
