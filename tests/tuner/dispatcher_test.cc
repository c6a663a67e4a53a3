// What the farm promises: execution at least once, settlement exactly once.
#include "tuner/farm/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/target_text.h"
#include "support/clock.h"
#include "tests/tuner/world.h"
#include "tuner/farm/assignment.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;

int CountAcknowledged(const FakeWorker& worker, int64_t fence) {
  int count = 0;
  for (const auto& message : worker.received) {
    count += message.has_acknowledge() && message.acknowledge().fence() == fence;
  }
  return count;
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
  world.Drain();
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
  world.Drain();
  ASSERT_EQ(slow.assignments.size(), 1u);
  const v1::Assignment assignment = slow.assignments.front();
  slow.Disconnect(false);
  world.Wait(31 * kSecondNs);  // the grace period
  world.AddWorker("other");
  world.Run();
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 3u);
  slow.Connect();
  slow.SendResult(FakeMeasure(assignment, {"conv\n{}"}));
  world.Run();
  EXPECT_THAT(slow.RevokedFor(assignment.fence()),
              HasSubstr("no lease under this fence, or a newer"));
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 3u);
  v1::MeasureResult of_nothing = FakeMeasure(assignment, {"conv\n{}"});
  of_nothing.set_trial(12345);
  of_nothing.set_fence(67890);
  slow.SendResult(of_nothing);
  world.Run();
  EXPECT_EQ(slow.RevokedFor(67890), "there is no such trial");
}

TEST(Dispatcher, RefusesAResultUnderTheLeaseOfAnotherWorker) {
  World world;
  FakeWorker& honest = world.AddWorker("honest", 1);
  world.Submit({.trials = 3});
  world.Drain();
  const v1::MeasureResult forged = FakeMeasure(honest.assignments.front(), {"conv\n{}"});
  FakeWorker& forger = world.AddWorker("forger", 0);
  forger.SendResult(forged);
  world.Drain();
  EXPECT_EQ(forger.RevokedFor(forged.fence()), "it is another worker's");
  EXPECT_EQ(CountAcknowledged(forger, forged.fence()), 0);
  EXPECT_TRUE(world.Records(Purpose::kSearch).empty());
  world.Run();
  EXPECT_EQ(CountAcknowledged(honest, forged.fence()), 1);
  for (const auto& record : world.Records(Purpose::kSearch)) EXPECT_EQ(record.worker, "honest");
}

// A lease of another daemon, or of an earlier life of this one: only the store knows it.
TEST(Dispatcher, TakesAResultUnderALeaseThatOnlyTheStoreHasFromItsWorkerAndAsAssigned) {
  World world;
  world.AddWorker("idle", 0);  // without a device nothing is proposed
  world.Submit({.trials = 3});
  world.Run();
  const int64_t id = world.store->OpenTrials(0).value().at(0).id;
  tuning_db::Assigned assigned;
  assigned.candidates = {{"a digest", "a compiler"}};
  assigned.regime = "warm";
  const tuning_db::Trial leased = world.store
                                      ->Lease({.trial = id,
                                               .worker = "honest",
                                               .device = "cpu0",
                                               .limit_ns = kSecondNs,
                                               .assigned = assigned})
                                      .value();
  const v1::MeasureResult result = FakeMeasure(FromLease(leased), {"conv\n{}"});
  FakeWorker& forger = world.AddWorker("forger", 0);
  forger.SendResult(result);
  world.Drain();
  EXPECT_EQ(forger.RevokedFor(leased.fence), "it is another worker's");
  EXPECT_TRUE(world.Records(Purpose::kSearch).empty());
  FakeWorker& honest = world.AddWorker("honest", 0);
  v1::MeasureResult other = result;
  other.mutable_candidates(0)->set_artifact_digest("another digest");
  honest.SendResult(other);
  world.Drain();
  EXPECT_THAT(honest.RevokedFor(leased.fence), HasSubstr("expected artifact \"a digest\""));
  EXPECT_TRUE(world.Records(Purpose::kSearch).empty());
  honest.SendResult(result);
  world.Drain();
  EXPECT_EQ(CountAcknowledged(honest, leased.fence), 1);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 1u);
  honest.SendResult(result);
  world.Drain();
  EXPECT_EQ(CountAcknowledged(honest, leased.fence), 2) << "a duplicate";
}

TEST(Dispatcher, ReleasesAHeldLeaseWhoseWorkerDoesNotComeBack) {
  World world;
  world.AddWorker("w1", 1);
  world.Submit({.trials = 3});
  world.Drain();
  const auto count_leased = [&] {
    const std::vector<tuning_db::Trial> open = world.store->OpenTrials(0).value();
    return std::count_if(open.begin(), open.end(), [](const auto& trial) {
      return trial.state == tuning_db::TrialState::kLeased;
    });
  };
  ASSERT_EQ(count_leased(), 1);
  world.workers.clear();
  world.Restart();
  world.Wait(29 * kSecondNs);
  EXPECT_EQ(count_leased(), 1);
  world.Wait(2 * kSecondNs);
  EXPECT_EQ(count_leased(), 0);
}

// A worker may be given several at once: the time of each begins when the one before has ended.
TEST(Dispatcher, CountsTheTimeOfALeaseFromWhenItIsTheFirstOfItsDevice) {
  TuningOptions tuning;
  tuning.run_limit_ns = 10 * kSecondNs;
  DispatcherOptions farm;
  farm.lease_slack_ns = kSecondNs;
  farm.silent_intervals = 1'000'000;
  World world(tuning, farm);
  FakeWorker& worker = world.AddWorker("w1", 3);
  world.Submit({.trials = 3});
  world.Drain();
  const auto pass = [&](int64_t ns) {
    world.clock.now_ns += ns;
    world.dispatcher->Tick();
    world.Drain();
  };
  while (world.Records(Purpose::kSearch).size() < 3) {
    ASSERT_FALSE(worker.assignments.empty());
    const int64_t fence = worker.assignments.front().fence();
    pass(20 * kSecondNs);  // the reference and the candidate, each as long as it may
    EXPECT_FALSE(worker.WasRevoked(fence));
    while (!worker.assignments.empty() && worker.assignments.front().fence() == fence) {
      worker.RunOne();
      world.Drain();
    }
  }
  ASSERT_FALSE(worker.assignments.empty()) << "the final";
  const int64_t fence = worker.assignments.front().fence();
  pass(2000 * kSecondNs);  // seven rounds of every entry
  EXPECT_TRUE(worker.WasRevoked(fence)) << "overdue all the same";
}

TEST(Dispatcher, KeepsALeaseOverAShortBreakOfTheStream) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  world.Submit({.trials = 1});
  worker.is_mute = true;
  world.Run();
  ASSERT_EQ(worker.held.size(), 1u);
  worker.Disconnect(false);
  world.Wait(kSecondNs);
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
  world.Drain();
  EXPECT_EQ(dying.assignments.size(), 3u);
  dying.Disconnect(true);
  world.AddWorker("other");
  world.Wait(31 * kSecondNs);
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

TEST(Dispatcher, LeavesADeviceThatKeepsGettingLostAloneForAWhile) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  worker.device_lost = true;
  const int64_t job = world.Submit({.trials = 10});
  world.Run();
  EXPECT_LE(worker.runs, 3) << "what it had been given before it was found out";
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
  std::vector<v1::WorkerInfo> workers;
  world.dispatcher->ListWorkers("", [&](auto list) { workers = std::move(list.workers); });
  world.Run();
  EXPECT_THAT(workers.at(0).quarantined().at("cpu0"), HasSubstr("it fell off the bus"));
  EXPECT_THAT(workers.at(0).quarantined().at("cpu0"), HasSubstr("in 10 s"));

  const int before = worker.runs;
  world.Wait(60 * kSecondNs);
  EXPECT_GE(worker.runs - before, 2) << "it is tried again";
  EXPECT_LE(worker.runs - before, 3) << "ever less often, one trial at a time";
  EXPECT_EQ(CountMeasured(world), 0) << "no trial is blamed";

  worker.device_lost = false;
  world.Wait(60 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_TRUE(world.dispatcher->Serves(kFakeTarget));
  for (const auto& record : world.Records(Purpose::kSearch)) {
    EXPECT_NE(record.outcome, Outcome::kDeviceLost);
  }
}

TEST(Dispatcher, KeepsADeviceInQuarantineOverABreakOfTheStream) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  worker.device_lost = true;
  world.Submit({.trials = 10});
  world.Run();
  const int before = worker.runs;
  worker.Disconnect(false);
  worker.Connect();
  world.Run();
  EXPECT_EQ(worker.runs, before);
}

TEST(Dispatcher, GivesTheTrialsOfALostDeviceToAnother) {
  World world;
  FakeWorker& broken = world.AddWorker("broken");
  broken.device_lost = true;
  const int64_t job = world.Submit({.trials = 10});
  world.Run();
  world.AddWorker("sound");
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  for (const auto& record : world.Records(Purpose::kSearch)) {
    EXPECT_NE(record.outcome, Outcome::kDeviceLost);
  }
}

TEST(Dispatcher, SettlesATrialThatLosesADeviceWhichIsSoundOtherwise) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  worker.losing_trials = {5};
  const int64_t job = world.Submit({.trials = 64});
  world.Wait(60 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  const auto records = world.Records(Purpose::kSearch);
  ASSERT_EQ(records.size(), 64u);
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome == Outcome::kDeviceLost, record.trial == 5) << record.trial;
  }
}

TEST(Dispatcher, OffersOnlyToDevicesOfTheTarget) {
  World world;
  FakeWorker& foreign = world.AddWorker("foreign");
  foreign.Disconnect(true);
  foreign.target = "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -threads=2";
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
    world.dispatcher->Opened(link);
    world.dispatcher->Receive(link, message);
    world.Run();
    return link->status;
  };
  EXPECT_TRUE(try_hello(pattern.HelloMessage()).ok());
  v1::Hello newer = pattern.HelloMessage();
  newer.set_min_protocol(4);
  newer.set_max_protocol(5);
  EXPECT_THAT(std::string(try_hello(newer).message()), HasSubstr("protocol"));
  v1::Hello other = pattern.HelloMessage();
  other.set_artifact_abi(99);
  EXPECT_THAT(std::string(try_hello(other).message()), HasSubstr("ABI 99"));
  v1::Hello nameless = pattern.HelloMessage();
  nameless.clear_worker();
  EXPECT_EQ(try_hello(nameless).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Dispatcher, RefusesASecondWorkerOfOneNameAndLeavesTheFirstAlone) {
  World world;
  FakeWorker first("w", world.dispatcher.get());
  first.instance = "host-7-aaaa";
  first.Connect();
  world.Run();
  for (const char* const instance : {"host-8-bbbb", ""}) {
    FakeWorker second("w", world.dispatcher.get());
    second.instance = instance;
    second.Connect();
    world.Run();
    EXPECT_EQ(second.closed.code(), absl::StatusCode::kAlreadyExists) << instance;
    EXPECT_THAT(std::string(second.closed.message()), HasSubstr("host-7-aaaa"));
    EXPECT_THAT(std::string(second.closed.message()), HasSubstr("--name"));
    EXPECT_TRUE(first.connected());
  }
  first.Disconnect(true);
  world.Run();
  FakeWorker next("w", world.dispatcher.get());
  next.instance = "host-9-cccc";
  next.Connect();
  world.Run();
  EXPECT_TRUE(next.connected()) << "the name is free again";
  next.Disconnect(true);
  world.Run();
}

TEST(Dispatcher, AWorkerThatIsBackTakesItsOwnStreamOver) {
  World world;
  // One worker of this release, and one of the release before, which says nothing.
  for (const char* const instance : {"host-7-aaaa", ""}) {
    FakeWorker before("w", world.dispatcher.get());
    before.instance = instance;
    before.Connect();
    world.Run();
    FakeWorker after("w", world.dispatcher.get());
    after.instance = instance;
    after.Connect();
    world.Run();
    EXPECT_EQ(before.closed.code(), absl::StatusCode::kAborted);
    EXPECT_TRUE(after.connected());
    after.Disconnect(true);
    world.Run();
  }
}

TEST(Dispatcher, TakesASilentWorkerForGone) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  worker.is_mute = true;
  world.Run();
  world.Wait(11 * kSecondNs);
  EXPECT_FALSE(worker.connected());
  EXPECT_EQ(worker.closed.code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Dispatcher, DrainsAWorker) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  world.Submit({});
  world.Drain();
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
  world.dispatcher->ListWorkers("", [&](auto list) { workers = std::move(list.workers); });
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
  request.candidates.push_back({"digest", std::make_shared<const std::string>(big), ""});
  world.dispatcher->Measure(request, [](const MeasureReport&, const SettledCallback&) {});
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
