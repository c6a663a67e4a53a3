// What the farm promises: execution at least once, settlement exactly once.
#include "tuner/farm/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/world.h"
#include "tuner/farm/device_match.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;

constexpr int64_t kSecond = 1'000'000'000;

int CountAcknowledged(const FakeWorker& worker, int64_t fence) {
  int count = 0;
  for (const auto& message : worker.received) {
    count += message.has_acknowledge() && message.acknowledge().fence() == fence;
  }
  return count;
}

bool WasRevoked(const FakeWorker& worker, int64_t fence) {
  for (const auto& message : worker.received) {
    if (message.has_revoke() && message.revoke().fence() == fence) return true;
  }
  return false;
}

// Trials that reached a worker, finals among them.
int CountMeasured(World& world) {
  int measured = 0;
  const std::vector<tuning_db::Record> records = world.store->Records({}).value();
  for (const auto& record : records) {
    measured += record.outcome != Outcome::kBuildError;
  }
  return measured;
}

TEST(Dispatcher, OffersNoMoreThanAWorkerHasCreditFor) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  world.Submit({});
  while (world.executor.RunOne()) {
  }
  EXPECT_EQ(worker.assignments.size(), 2u);
}

TEST(Dispatcher, LeasesBeforeItOffers) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  world.Submit({});
  while (world.executor.RunOne()) {
    for (const v1::Assignment& assignment : worker.assignments) {
      const std::vector<tuning_db::Trial> open = world.store->OpenTrials(0).value();
      for (const auto& trial : open) {
        if (trial.id != assignment.trial()) continue;
        EXPECT_EQ(trial.state, tuning_db::TrialState::kLeased);
        EXPECT_EQ(trial.fence, assignment.fence());
      }
    }
  }
}

TEST(Dispatcher, AnswersADuplicateResultAsItAnsweredTheFirst) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  world.Submit({.trials = 3});
  while (worker.sent.empty()) ASSERT_TRUE(world.Step());
  const v1::MeasureResult result = worker.sent.front();
  world.Run();
  worker.SendResult(result);
  world.Run();
  EXPECT_EQ(CountAcknowledged(worker, result.fence()), 2);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 3u);
}

TEST(Dispatcher, SettlesAResultHeldOverARestartOfTheDaemon) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  world.Submit({.trials = 3});
  while (worker.sent.empty()) ASSERT_TRUE(world.Step());
  const int64_t fence = worker.sent.front().fence();
  world.Restart();  // before the result was looked at
  world.Run();
  EXPECT_EQ(CountAcknowledged(worker, fence), 1);
  EXPECT_EQ(worker.runs, CountMeasured(world)) << "nothing is measured again";
  EXPECT_EQ(world.GetJob(1).state, JobState::kDone);
}

TEST(Dispatcher, RefusesALateFence) {
  World world;
  FakeWorker& slow = world.AddWorker("slow", 1);
  world.Submit({.trials = 3});
  while (world.executor.RunOne()) {
  }
  ASSERT_EQ(slow.assignments.size(), 1u);
  const v1::Assignment assignment = slow.assignments.front();
  slow.Disconnect(false);
  world.Wait(6 * kSecond);  // the grace period
  world.AddWorker("other");
  world.Run();
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 3u);
  slow.Connect();
  slow.SendResult(FakeMeasure(assignment, {"conv\n{}"}));
  world.Run();
  EXPECT_TRUE(WasRevoked(slow, assignment.fence()));
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 3u);
}

TEST(Dispatcher, RefusesAFenceOfAnotherWorker) {
  World world;
  FakeWorker& honest = world.AddWorker("honest", 1);
  world.Submit({.trials = 3});
  while (world.executor.RunOne()) {
  }
  v1::MeasureResult forged = FakeMeasure(honest.assignments.front(), {"conv\n{}"});
  forged.set_fence(forged.fence() + 1000);
  FakeWorker& forger = world.AddWorker("forger", 0);
  forger.SendResult(forged);
  while (world.executor.RunOne()) {
  }
  EXPECT_TRUE(WasRevoked(forger, forged.fence()));
  EXPECT_TRUE(world.Records(Purpose::kSearch).empty());
}

TEST(Dispatcher, KeepsALeaseOverAShortBreakOfTheStream) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  world.Submit({.trials = 1});
  worker.is_mute = true;
  world.Run();
  ASSERT_EQ(worker.held.size(), 1u);
  worker.Disconnect(false);
  world.Wait(kSecond);
  worker.is_mute = false;
  worker.Connect();
  world.Run();
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 1u);
  for (const auto& record : world.Records(Purpose::kSearch)) {
    EXPECT_EQ(record.of_trial.attempt, 1);
  }
}

TEST(Dispatcher, GivesTheTrialsOfALostWorkerToAnother) {
  World world;
  FakeWorker& dying = world.AddWorker("dying", 3);
  const int64_t job = world.Submit({.trials = 20});
  while (world.executor.RunOne()) {
  }
  EXPECT_EQ(dying.assignments.size(), 3u);
  dying.Disconnect(true);
  world.AddWorker("other");
  world.Wait(10 * kSecond);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 20u);
}

TEST(Dispatcher, SettlesATrialThatTakesThreeWorkersDown) {
  World world;
  world.Submit({.trials = 12});
  FakeWorker& worker = world.AddWorker("w1", 4);
  worker.lethal_trials = {5};
  for (int i = 0; i < 20; ++i) {
    world.Run();
    if (!worker.connected()) worker.Connect();
  }
  const auto records = world.Records(Purpose::kSearch);
  ASSERT_EQ(records.size(), 12u);
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome == Outcome::kDeviceLost, record.trial == 5)
        << "the innocent are not blamed: trial " << record.trial;
  }
}

TEST(Dispatcher, QuarantinesADeviceThatKeepsGettingLost) {
  World world;
  FakeWorker& broken = world.AddWorker("broken");
  broken.device_lost = true;
  const int64_t job = world.Submit({.trials = 10});
  world.Run();
  EXPECT_LE(broken.runs, 9);
  world.AddWorker("sound");
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  for (const auto& record : world.Records(Purpose::kSearch)) {
    EXPECT_NE(record.outcome, Outcome::kDeviceLost);
  }
}

TEST(Dispatcher, OffersOnlyToDevicesOfTheTarget) {
  World world;
  FakeWorker& foreign = world.AddWorker("foreign");
  foreign.Disconnect(true);
  foreign.target = "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=8";
  foreign.Connect();
  world.Submit({});
  world.Run();
  EXPECT_EQ(foreign.runs, 0);
}

TEST(Dispatcher, SaysWhichTargetsItsDevicesServe) {
  World world;
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
  FakeWorker& worker = world.AddWorker("w1");
  world.Run();
  EXPECT_TRUE(world.dispatcher->Serves(kFakeTarget));
  EXPECT_EQ(world.device_changes, 1);
  EXPECT_FALSE(world.dispatcher->Serves("cuda -arch=sm_90"));
  const std::string wider = WithoutThreads(kFakeTarget) + " -threads=64";
  EXPECT_FALSE(world.dispatcher->Serves(wider)) << "the device has two cores";
  worker.Disconnect(true);
  world.Run();
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
  worker.Connect();
  world.dispatcher->DrainWorker("w1", [](absl::Status) {});
  world.Run();
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget)) << "it takes no more work";
  EXPECT_EQ(world.device_changes, 4);
}

TEST(Dispatcher, TurnsAwayWorkersOfAnotherProtocolOrAbi) {
  World world;
  class Link : public WorkerLink {
   public:
    void Send(v1::WorkResponse) override {}
    void Close(absl::Status s) override { status = std::move(s); }
    absl::Status status;
  };
  FakeWorker pattern("w", world.dispatcher.get());
  const auto try_hello = [&](const v1::Hello& hello) {
    auto link = std::make_shared<Link>();
    v1::WorkRequest message;
    *message.mutable_hello() = hello;
    world.dispatcher->Receive(link, message);
    world.Run();
    return link->status;
  };
  EXPECT_TRUE(try_hello(pattern.HelloMessage()).ok());
  v1::Hello newer = pattern.HelloMessage();
  newer.set_min_protocol(2);
  newer.set_max_protocol(3);
  EXPECT_THAT(std::string(try_hello(newer).message()), HasSubstr("protocol"));
  v1::Hello other = pattern.HelloMessage();
  other.set_artifact_abi(99);
  EXPECT_THAT(std::string(try_hello(other).message()), HasSubstr("ABI 99"));
  v1::Hello nameless = pattern.HelloMessage();
  nameless.clear_worker();
  EXPECT_EQ(try_hello(nameless).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Dispatcher, TakesASilentWorkerForGone) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  world.Run();
  world.Wait(11 * kSecond);
  EXPECT_FALSE(worker.connected());
  EXPECT_EQ(worker.closed.code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Dispatcher, DrainsAWorker) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  world.Submit({});
  while (world.executor.RunOne()) {
  }
  absl::Status drained = absl::UnknownError("not called");
  world.dispatcher->DrainWorker("w1", [&](absl::Status status) { drained = status; });
  world.Run();
  EXPECT_TRUE(drained.ok());
  EXPECT_EQ(worker.runs, 2) << "it finishes what it holds, and gets no more";
  world.dispatcher->DrainWorker("nobody", [&](absl::Status status) { drained = status; });
  world.Run();
  EXPECT_EQ(drained.code(), absl::StatusCode::kNotFound);
}

TEST(Dispatcher, ListsWorkers) {
  World world;
  world.AddWorker("a");
  world.AddWorker("b");
  world.Submit({.trials = 5});
  world.Run();
  std::vector<v1::WorkerInfo> workers;
  world.dispatcher->ListWorkers([&](auto list) { workers = std::move(list); });
  world.Run();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].worker(), "a");
  EXPECT_EQ(workers[0].settled() + workers[1].settled(),
            static_cast<uint64_t>(CountMeasured(world)));
}

TEST(Dispatcher, SendsArtifactsInChunksOfAMebibyte) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  const std::string big(2'500'000, 'x');
  MeasureRequest request;
  request.target = "another target";
  request.candidates.push_back({"digest", std::make_shared<const std::string>(big)});
  world.dispatcher->Measure(request, [](const MeasureReport&) {
    return absl::StatusOr<tuning_db::SettleResult>(tuning_db::SettleResult::kRefused);
  });
  worker.AskFor("digest");
  worker.AskFor("nothing");
  world.Run();
  std::string received;
  int chunks = 0;
  bool was_missing = false;
  for (const auto& message : worker.received) {
    if (!message.has_chunk()) continue;
    was_missing |= message.chunk().missing();
    if (message.chunk().missing()) continue;
    EXPECT_EQ(message.chunk().offset(), received.size());
    EXPECT_LE(message.chunk().data().size(), size_t{1} << 20);
    received += message.chunk().data();
    ++chunks;
  }
  EXPECT_EQ(chunks, 3);
  EXPECT_EQ(received, big);
  EXPECT_TRUE(was_missing);
}

}  // namespace
}  // namespace hone::tuner
