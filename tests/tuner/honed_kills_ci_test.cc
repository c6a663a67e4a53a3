// Whatever is killed, whenever: the end is the same.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hone/v1/tuning.grpc.pb.h"
#include "support/child_process.h"
#include "support/random.h"
#include "tests/tuner/end_state.h"
#include "tests/tuner/fake_farm.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kTrials = 150;

// One daemon and one worker, which work off one job.
class FarmWithKills : public FakeFarm {
 public:
  // Those that the daemon runs; it starts others. False: there was none.
  bool KillsABuilderWithin(milliseconds limit) {
    const auto end = steady_clock::now() + limit;
    const std::string tasks = "/proc/" + std::to_string(daemon().pid()) + "/task";
    bool killed = false;
    while (!killed && steady_clock::now() < end) {
      std::error_code gone;
      for (const auto& task : fs::directory_iterator(tasks, gone)) {
        std::ifstream children(task.path() / "children");
        for (pid_t pid = 0; children >> pid;) killed |= kill(pid, SIGKILL) == 0;
      }
    }
    return killed;
  }

  // Gives 0 where the daemon died before it answered.
  int64_t SubmitTheJob() { return Submit("the job", kTrials).value_or(0); }

  // Follows the job to its end over one daemon; resumes where the stream broke.
  v1::JobState Watch(int64_t job) {
    v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
    int64_t seq = 0;
    const auto stub = Stub();
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(120));
    v1::WatchJobRequest request;
    request.set_id(job);
    const auto stream = stub->WatchJob(&context, request);
    v1::WatchJobResponse event;
    while (stream->Read(&event)) {
      EXPECT_EQ(event.seq(), seq + 1) << "events are numbered without gaps";
      seq = event.seq();
      state = event.job().state();
    }
    EXPECT_TRUE(stream->Finish().ok());
    return state;
  }

  std::string EndState() {
    KillDaemon();
    const auto store = OpenStore();
    ExpectSound(*store, kTrials);
    return EndStateOf(*store);
  }
  std::string Log() const { return (folder() / "points").string(); }
};

// How often each crash point is passed.
using Passages = std::map<std::string, int>;

// An undisturbed run: its end, and the crash points on the way.
std::string Undisturbed(Passages& passages) {
  FarmWithKills farm;
  setenv("HONE_CRASH_LOG", farm.Log().c_str(), 1);
  farm.StartDaemon();
  unsetenv("HONE_CRASH_LOG");
  farm.StartWorker();
  const int64_t job = farm.SubmitTheJob();
  EXPECT_EQ(farm.Watch(job), v1::JOB_STATE_DONE);
  std::ifstream log(farm.Log());
  for (std::string point; std::getline(log, point);) ++passages[point];
  return farm.EndState();
}

bool EndsWithin(ChildProcess& child, milliseconds limit) {
  const auto end = steady_clock::now() + limit;
  while (steady_clock::now() < end) {
    if (child.HasEnded()) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return false;
}

// Whether it ended as a crash point ends it.
bool DiesAtItsPoint(ChildProcess& child, milliseconds limit) {
  if (!EndsWithin(child, limit)) return false;
  const int status = child.Stop(0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST(HonedKills, FiftySeededKillsOfDaemonBuilderAndWorkerChangeNothing) {
  constexpr int kKills = 50;
  Passages passages;
  const std::string expected = Undisturbed(passages);
  ASSERT_GE(passages.size(), 15u) << "crash points before and after each step";
  std::vector<std::string> names;  // of those that are passed all along
  for (const auto& [name, count] : passages) {
    if (count >= kKills / 2) names.push_back(name);
  }
  ASSERT_GE(names.size(), 10u);

  FarmWithKills farm;
  Random random(2026);
  farm.StartWorker();
  int64_t job = 0;
  int of_builders = 0;
  int of_workers = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const uint64_t victim = random.Below(3);
    if (victim == 1) {
      farm.StartDaemon();
      if (job == 0) job = farm.SubmitTheJob();
      of_builders += farm.KillsABuilderWithin(milliseconds(5000));
      std::this_thread::sleep_for(milliseconds(random.Below(10)));
      farm.KillDaemon();
      continue;
    }
    const std::string point = names[random.Below(names.size())];
    // All kills together leave something to be done to the last.
    const int most = std::max(1, passages[point] / kKills);
    const uint64_t passage = 1 + random.Below(static_cast<uint64_t>(most));
    farm.StartDaemon(0, point + ":" + std::to_string(passage));
    if (job == 0) job = farm.SubmitTheJob();
    if (victim == 2) {
      farm.StartWorker();  // kills the old one
      ++of_workers;
    }
    EXPECT_TRUE(DiesAtItsPoint(farm.daemon(), milliseconds(10'000))) << point << ":" << passage;
  }
  EXPECT_GE(of_builders, 10);
  EXPECT_GE(of_workers, 10);
  farm.StartDaemon();
  farm.StartWorker();
  job = farm.SubmitTheJob();  // idempotent: the same job
  EXPECT_EQ(job, 1);
  EXPECT_EQ(farm.Watch(job), v1::JOB_STATE_DONE);
  EXPECT_EQ(farm.EndState(), expected);
}

TEST(HonedKills, EachCrashPointChangesNothing) {
  Passages passages;
  const std::string expected = Undisturbed(passages);
  Random random(7);
  int points = 0;
  for (const auto& [point, count] : passages) {
    if (point.rfind("tuner.", 0) != 0) continue;  // the store's own are tests/tuning_db's
    // How often a point is passed depends on time a little.
    const uint64_t passage = 1 + random.Below(static_cast<uint64_t>(std::max(1, count / 2)));
    FarmWithKills farm;
    farm.StartWorker();
    farm.StartDaemon(0, point + ":" + std::to_string(passage));
    (void)farm.SubmitTheJob();
    EXPECT_TRUE(DiesAtItsPoint(farm.daemon(), milliseconds(20'000))) << point << ":" << passage;
    farm.StartDaemon();
    EXPECT_EQ(farm.Watch(farm.SubmitTheJob()), v1::JOB_STATE_DONE) << point << ":" << passage;
    EXPECT_EQ(farm.EndState(), expected) << point << ":" << passage;
    ++points;
  }
  EXPECT_GE(points, 20);
}

}  // namespace
}  // namespace hone::tuner
