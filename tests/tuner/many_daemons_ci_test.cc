// Several daemons on one database: whichever is killed, whenever, the end is the same.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hone/v1/tuning.grpc.pb.h"
#include "support/child_process.h"
#include "support/random.h"
#include "tests/paths.h"
#include "tests/tuner/end_state.h"
#include "tests/tuner/fakes.h"
#include "tests/tuning_db/postgres_server.h"
#include "tuning_db/store.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using tuning_db::PostgresServer;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr std::chrono::seconds kLimit(100);

// Daemons with a worker each, in a folder of its own, on an empty database.
class Farm {
 public:
  Farm(const PostgresServer& server, size_t count)
      : database_(server.Address()), daemons_(count), workers_(count) {
    std::string name = fs::temp_directory_path() / "hone-many-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (size_t i = 0; i < count; ++i) {
      fs::create_directory(Folder(i));
      fs::permissions(Folder(i), fs::perms::owner_all);
      StartDaemon(i);
      auto worker = ChildProcess::Start(
          {HONE_TESTS_BIN "/fake_worker", "unix:" + Socket(i), "w" + std::to_string(i)});
      EXPECT_TRUE(worker.ok()) << worker.status();
      workers_[i] = std::make_unique<ChildProcess>(*std::move(worker));
    }
    store_ = tuning_db::OpenStore(database_, tuning_db::OpenMode::kReadOnly).value();
  }
  ~Farm() {
    workers_.clear();
    daemons_.clear();
    fs::remove_all(folder_);
  }

  // kill -9.
  void Kill(size_t i) {
    kill(daemons_[i]->pid(), SIGKILL);
    daemons_[i].reset();
  }
  // In a life of its own, of the same name.
  void StartDaemon(size_t i) {
    auto child = ChildProcess::Start({HONE_TESTS_BIN "/fake_honed", database_, Socket(i)});
    ASSERT_TRUE(child.ok()) << child.status();
    daemons_[i] = std::make_unique<ChildProcess>(*std::move(child));
    (void)daemons_[i]->ReadLine(60 * kSecondNs);
  }
  size_t OwnerOf(int64_t job) {
    const std::string owner = store_->GetJob(job).value().owner;
    size_t i = 0;
    while (i + 1 < daemons_.size() && !owner.starts_with("unix:" + Socket(i) + " on ")) ++i;
    return i;
  }
  void AwaitTakeOver(int64_t job, size_t from) {
    const auto end = steady_clock::now() + kLimit;
    while (OwnerOf(job) == from && !HasEnded(job)) {
      ASSERT_LT(steady_clock::now(), end) << "nobody takes the job over";
      std::this_thread::sleep_for(milliseconds(5));
    }
  }

  int64_t Submit(size_t i, const std::string& client, int64_t trials) {
    v1::SubmitJobRequest request;
    request.set_client_id(client);
    request.mutable_spec()->set_target(kFakeTarget);
    request.mutable_spec()->set_trials(trials);
    request.mutable_spec()->set_search("fake");
    request.mutable_spec()->set_seed(3);
    for (const char* workload : {"conv", "dense"}) {
      v1::TaskSpec& task = *request.mutable_spec()->add_tasks();
      task.set_workload(workload);
      task.set_signature("NC->NC");
      task.set_name(workload);
    }
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::SubmitJobResponse response;
    const auto stub = v1::TuningService::NewStub(
        grpc::CreateChannel("unix:" + Socket(i), grpc::InsecureChannelCredentials()));
    const grpc::Status status = stub->SubmitJob(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.job().id();
  }

  tuning_db::Store& store() { return *store_; }
  // Until the job has ended, or so many trials are settled.
  void AwaitTrials(int64_t job, size_t count) {
    const auto end = steady_clock::now() + kLimit;
    while (steady_clock::now() < end) {
      if (HasEnded(job) || Settled() >= count) return;
      std::this_thread::sleep_for(milliseconds(5));
    }
    FAIL() << Settled() << " trials are settled, not " << count;
  }
  void AwaitEnd(int64_t job) { AwaitTrials(job, SIZE_MAX); }
  bool HasEnded(int64_t job) { return tuning_db::HasEnded(store_->GetJob(job).value().state); }
  size_t Settled() {
    size_t count = 0;
    const auto progress = store_->Progress(1).value();
    for (const auto& task : progress) count += static_cast<size_t>(task.trials);
    return count;
  }

  // What holds at the end, whatever happened on the way.
  void ExpectSound(int64_t trials) {
    EXPECT_TRUE(store_->OpenTrials(0).value().empty());
    const std::vector<std::string> faults = store_->Check().value();
    for (const std::string& fault : faults) ADD_FAILURE() << fault;
    for (const int64_t task : {1, 2}) {
      EXPECT_EQ(store_->CountTrials(task, "NC->NC", tuning_db::Purpose::kSearch).value(), trials);
    }
    std::set<int64_t> settled;
    std::set<int64_t> fences;
    const std::vector<tuning_db::Record> records = store_->Records({}).value();
    for (const tuning_db::Record& record : records) {
      EXPECT_TRUE(settled.insert(record.trial).second) << "settled twice: " << record.trial;
      EXPECT_TRUE(fences.insert(record.of_trial.fence).second);
    }
  }

 private:
  fs::path Folder(size_t i) const { return folder_ / std::to_string(i); }
  std::string Socket(size_t i) const { return (Folder(i) / "socket").string(); }

  fs::path folder_;
  const std::string database_;
  std::vector<std::unique_ptr<ChildProcess>> daemons_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
  std::unique_ptr<tuning_db::Store> store_;
};

class ManyDaemons : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::WhyNot().empty()) GTEST_SKIP() << PostgresServer::WhyNot();
    static const std::unique_ptr<PostgresServer> server = PostgresServer::Start();
    ASSERT_NE(server, nullptr);
    server_ = server.get();
    server_->Clear();
  }

  // With `count` daemons, of which one at a time is killed and comes back.
  void KillDaemonsOfARunningJob(size_t count, int kills);

  PostgresServer* server_ = nullptr;
};

void ManyDaemons::KillDaemonsOfARunningJob(size_t count, int kills) {
  constexpr int64_t kTrials = 240;
  std::string expected;
  {
    Farm calm(*server_, 1);
    const int64_t job = calm.Submit(0, "the job", kTrials);
    calm.AwaitEnd(job);
    calm.ExpectSound(kTrials);
    expected = EndStateOf(calm.store());
  }
  server_->Clear();
  Farm farm(*server_, count);
  Random random(40 + count);
  const int64_t job = farm.Submit(0, "the job", kTrials);
  std::map<std::string, int64_t> epochs;  // by owner
  int taken_over = 0;
  for (int kill = 0; kill < kills; ++kill) {
    farm.AwaitTrials(job, static_cast<size_t>(2 * kTrials * (kill + 1) / (kills + 2)));
    ASSERT_FALSE(farm.HasEnded(job)) << "the job has to run until the last kill";
    const tuning_db::Job row = farm.store().GetJob(job).value();
    EXPECT_GE(row.epoch, epochs[row.owner]) << "an older life of it owns the job again";
    epochs[row.owner] = row.epoch;
    std::this_thread::sleep_for(milliseconds(random.Below(20)));
    const size_t owner = farm.OwnerOf(job);
    const size_t victim = random.Below(2) == 0 ? owner : random.Below(count);
    farm.Kill(victim);
    // Sometimes it comes back before anybody has missed it, and takes its job back.
    if (victim == owner && random.Below(2) == 0) {
      farm.AwaitTakeOver(job, owner);
      ++taken_over;
    }
    farm.StartDaemon(victim);
  }
  EXPECT_GE(taken_over, 3);
  farm.AwaitEnd(job);
  EXPECT_EQ(farm.store().GetJob(job)->state, tuning_db::JobState::kDone);
  farm.ExpectSound(kTrials);
  EXPECT_EQ(EndStateOf(farm.store()), expected);
}

TEST_F(ManyDaemons, TwentyKillsOfEitherOfTwoChangeNothing) { KillDaemonsOfARunningJob(2, 20); }

TEST_F(ManyDaemons, TwentyKillsOfAnyOfThreeChangeNothing) { KillDaemonsOfARunningJob(3, 20); }

// The owner is gone for good: another takes its job over, and goes on with it.
TEST_F(ManyDaemons, TheJobOfADeadDaemonIsTakenOver) {
  constexpr int64_t kTrials = 60;
  Farm farm(*server_, 3);
  const int64_t job = farm.Submit(1, "the job", kTrials);
  const std::string first = farm.store().GetJob(job)->owner;
  farm.AwaitTrials(job, 20);
  farm.Kill(1);
  farm.AwaitEnd(job);
  const tuning_db::Job row = farm.store().GetJob(job).value();
  EXPECT_EQ(row.state, tuning_db::JobState::kDone);
  EXPECT_NE(row.owner, first);
  farm.ExpectSound(kTrials);
}

// Both want the same tasks: the older one's daemon tunes them, then the younger one's goes on.
TEST_F(ManyDaemons, ABudgetThatJobsOfTwoDaemonsShareIsMetExactly) {
  Farm farm(*server_, 2);
  const int64_t one = farm.Submit(0, "one", 40);
  const int64_t other = farm.Submit(1, "other", 70);
  EXPECT_NE(farm.store().GetJob(one)->owner, farm.store().GetJob(other)->owner);
  farm.AwaitEnd(one);
  farm.AwaitEnd(other);
  EXPECT_EQ(farm.store().GetJob(one)->state, tuning_db::JobState::kDone);
  EXPECT_EQ(farm.store().GetJob(other)->state, tuning_db::JobState::kDone);
  farm.ExpectSound(70);
}

}  // namespace
}  // namespace hone::tuner
