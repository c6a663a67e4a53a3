// What devices, workers and daemons do wrong, and who pays for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/clock.h"
#include "tests/tuner/world.h"
#include "tuner/farm/dispatcher.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;

int CountLost(World& world) {
  const auto records = world.Records(Purpose::kSearch);
  return static_cast<int>(std::count_if(records.begin(), records.end(), [](const auto& record) {
    return record.outcome == Outcome::kDeviceLost;
  }));
}

v1::WorkerInfo Only(World& world) {
  std::vector<v1::WorkerInfo> workers;
  world.dispatcher->ListWorkers("", [&](auto list) { workers = std::move(list.workers); });
  world.Drain();
  return workers.at(0);
}

TEST(FarmProtocol, SpeaksThisVersionAndTheOneBefore) {
  for (const uint32_t protocol : {2u, 3u, 9u}) {
    World world;
    world.AddWorker("w1", 0).Disconnect(true);
    FakeWorker& worker = *world.workers["w1"];
    worker.protocol = protocol;
    worker.Connect();
    world.Run();
    EXPECT_EQ(worker.welcomed_to, std::min(protocol, 3u));
    FakeWorker& second = world.AddWorker("w2", 0);
    second.Disconnect(true);
    second.protocol = protocol;
    EXPECT_FALSE(second.connected());
  }
  for (const uint32_t protocol : {2u, 3u}) {
    World world;
    auto& worker = world.workers["w1"];
    worker = std::make_unique<FakeWorker>("w1", world.dispatcher.get(), 2);
    worker->protocol = protocol;
    worker->Connect();
    const int64_t job = world.Submit({.trials = 20});
    world.Run();
    EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << protocol;
    EXPECT_EQ(world.Records(Purpose::kSearch).size(), 20u);
  }
}

TEST(FarmProtocol, AWindowIsAbsolute) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  worker.Disconnect(false);
  worker.Connect();
  worker.Disconnect(false);
  worker.Connect();
  world.Submit({});
  world.Drain();
  EXPECT_EQ(worker.assignments.size(), 2u);
}

TEST(FarmProtocol, AStreamWithoutHelloIsClosed) {
  class Link : public WorkerLink {
   public:
    void Send(v1::WorkResponse) override {}
    void Close(absl::Status s) override { status = std::move(s); }
    absl::Status status;
  };
  World world;
  auto silent = std::make_shared<Link>();
  world.dispatcher->Opened(silent);
  world.Wait(9 * kSecondNs);
  EXPECT_TRUE(silent->status.ok());
  world.Wait(2 * kSecondNs);
  EXPECT_TRUE(absl::IsDeadlineExceeded(silent->status));
}

// Messages that were read before a stream was closed are looked at after it.
TEST(FarmProtocol, AStreamThatWasClosedJoinsNoMore) {
  class Link : public WorkerLink {
   public:
    void Send(v1::WorkResponse) override { ++sent; }
    void Close(absl::Status) override {}
    int sent = 0;
  };
  World world;
  auto late = std::make_shared<Link>();
  world.dispatcher->Opened(late);
  world.Wait(11 * kSecondNs);
  v1::WorkRequest hello;
  *hello.mutable_hello() = FakeWorker("late", world.dispatcher.get()).HelloMessage();
  world.dispatcher->Receive(late, hello);
  world.Run();
  EXPECT_EQ(late->sent, 0) << "no Welcome";
  std::vector<v1::WorkerInfo> workers;
  world.dispatcher->ListWorkers("", [&](auto list) { workers = std::move(list.workers); });
  world.Run();
  EXPECT_TRUE(workers.empty());
}

TEST(FarmProtocol, ANameIsOfWhoDialledUnderIt) {
  World world;
  FakeWorker first("w", world.dispatcher.get());
  first.identity = "uid:1000";
  first.Connect();
  world.Run();
  first.Disconnect(true);
  world.Run();
  FakeWorker other("w", world.dispatcher.get());
  other.identity = "uid:0";
  other.Connect();
  world.Run();
  EXPECT_TRUE(absl::IsPermissionDenied(other.closed));
  first.Connect();
  world.Run();
  EXPECT_TRUE(first.connected());
  first.Disconnect(true);
  world.Run();
}

TEST(FarmFaults, ADeviceThatHangsLosesItsLeaseInTimeAndRestsThen) {
  World world;
  FakeWorker& hung = world.AddWorker("hung", 3);
  const int64_t job = world.Submit({.trials = 12});
  world.Drain();
  ASSERT_EQ(hung.assignments.size(), 3u);
  const v1::Assignment first = hung.assignments.front();
  ASSERT_GT(first.lease_ns(), 0);
  hung.Begin();  // and is never done with it
  std::set<int64_t> begun;
  const auto wait_hung = [&](int64_t ns) {
    for (int64_t passed = 0; passed < ns; passed += 200'000'000) {
      world.clock.now_ns += 200'000'000;
      world.dispatcher->Tick();
      world.loop->Tick();
      world.Drain();
      if (hung.assignments.empty() || !begun.insert(hung.assignments.front().fence()).second) {
        continue;
      }
      hung.Begin();
      world.Drain();
    }
  };
  wait_hung(first.lease_ns() - kSecondNs);
  EXPECT_FALSE(hung.WasRevoked(first.fence()));
  wait_hung(2 * kSecondNs);
  EXPECT_TRUE(hung.WasRevoked(first.fence()));
  wait_hung(first.lease_ns() + 2 * kSecondNs);
  EXPECT_THAT(Only(world).quarantined().at("cpu0"), HasSubstr("ran for more than"));
  hung.Disconnect(true);
  world.AddWorker("sound");
  world.Wait(40 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(CountLost(world), 0) << "the trials are not to blame";
}

TEST(FarmFaults, AStrikeHitsTheTrialThatRanAndNotTheFirstThatWasOffered) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 3);
  world.Submit({.trials = 12});
  world.Drain();
  ASSERT_EQ(worker.assignments.size(), 3u);
  const int64_t guilty = worker.assignments[1].trial();
  worker.lethal_trials = {guilty};
  for (int i = 0; i < 60; ++i) {
    if (!worker.connected()) worker.Connect();
    world.Drain();
    // It takes the guilty one before the others where it has it, as if those waited for artifacts.
    const auto it = std::find_if(worker.assignments.begin(), worker.assignments.end(),
                                 [&](const auto& a) { return a.trial() == guilty; });
    if (it == worker.assignments.end()) {
      world.Run(50);
      continue;
    }
    std::swap(*it, worker.assignments.front());
    worker.Begin();
    world.Drain();
    worker.Disconnect(true);
  }
  world.Run();
  const auto records = world.Records(Purpose::kSearch);
  ASSERT_EQ(records.size(), 12u);
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome == Outcome::kDeviceLost, record.trial == guilty) << record.trial;
  }
}

TEST(FarmFaults, APoisonCountOutlivesTheDaemon) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  worker.lethal_trials = {1};
  const int64_t job = world.Submit({.trials = 4});
  for (int i = 0; i < 4; ++i) {
    world.Run();
    if (!worker.connected()) worker.Connect();
    world.Drain();
    world.Restart();
  }
  world.Wait(60 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(CountLost(world), 1);
  const auto ran = std::count_if(worker.ran.begin(), worker.ran.end(),
                                 [](const auto& assignment) { return assignment.trial() == 1; });
  EXPECT_EQ(ran, 3);
}

TEST(FarmFaults, AQuarantineOutlivesTheDaemon) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  worker.device_lost = true;
  world.Submit({.trials = 10});
  world.Run();
  ASSERT_FALSE(world.dispatcher->Serves(kFakeTarget));
  const int before = worker.runs;
  world.Restart();
  world.Run();
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
  EXPECT_EQ(worker.runs, before);
}

TEST(FarmFaults, WorkersOfOneNameDoNotStrikeWhatTheOthersRan) {
  World world;
  const int64_t job = world.Submit({.trials = 10});
  for (int i = 0; i < 8; ++i) {
    FakeWorker first("w", world.dispatcher.get(), 1);
    FakeWorker second("w", world.dispatcher.get(), 1);
    for (FakeWorker* const worker : {&first, &second}) {
      worker->protocol = 2;
      worker->Connect();
      world.Drain();
      if (!worker->assignments.empty()) worker->Begin();
      world.Drain();
    }
    second.Disconnect(false);
    world.Drain();
    FakeWorker third("w", world.dispatcher.get(), 0);
    third.Connect();
    world.Drain();
    third.Disconnect(false);
    world.Drain();
    if (i < 1) continue;
    break;
  }
  world.AddWorker("sound");
  world.Wait(40 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(CountLost(world), 0);
}

TEST(FarmFaults, AResultMeasuredAcrossALongRestartIsAccepted) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  world.Submit({.trials = 3});
  while (worker.sent.empty()) ASSERT_TRUE(world.Step());
  const int64_t fence = worker.sent.front().fence();
  worker.Disconnect(false);
  world.executor.Clear();
  auto kept = std::move(world.workers["w1"]);
  world.workers.clear();
  world.Restart();
  world.Wait(20 * kSecondNs);  // it waited long before it dialled again
  kept->SetDispatcher(world.dispatcher.get());
  kept->Connect();
  FakeWorker& back = *kept;
  world.workers["w1"] = std::move(kept);
  world.Run();
  EXPECT_FALSE(back.WasRevoked(fence));
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 3u);
  EXPECT_EQ(back.runs, 3 + 1) << "each once, and the final";
}

void SayThatNoReferenceRuns(const v1::Assignment&, v1::MeasureResult& result) {
  for (v1::CandidateResult& candidate : *result.mutable_candidates()) {
    candidate.clear_samples_ns();
    candidate.set_outcome(v1::MEASURE_OUTCOME_NO_REFERENCE);
  }
}

// A job ends where its references do not run.
TEST(FarmFaults, OneWorkersWordThatAReferenceDoesNotRunIsNotEnough) {
  World world;
  world.AddWorker("liar", 1).tamper = SayThatNoReferenceRuns;
  world.AddWorker("honest", 1);
  const int64_t job = world.Submit({.trials = 12});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 12u);
  for (const auto& record : world.Records(Purpose::kSearch)) EXPECT_NE(record.worker, "liar");
}

TEST(FarmFaults, TwoWorkersWordThatAReferenceDoesNotRunIs) {
  World world;
  for (const char* name : {"w1", "w2"}) world.AddWorker(name, 1).tamper = SayThatNoReferenceRuns;
  const int64_t job = world.Submit({.trials = 12});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kFailed);
}

// Two workers say that it does not run, and between them outputs are found wrong by it.
TEST(FarmFaults, AWrongOutputProvesThatTheReferenceRuns) {
  World world;
  FakeWorker& witness = world.AddWorker("witness", 1);
  witness.tamper = [](const v1::Assignment&, v1::MeasureResult& result) {
    for (v1::CandidateResult& candidate : *result.mutable_candidates()) {
      candidate.clear_samples_ns();
      candidate.clear_calibrator_ns();
      candidate.set_outcome(v1::MEASURE_OUTCOME_WRONG_OUTPUT);
    }
  };
  const int64_t job = world.Submit({});
  const auto tell_once = [&](const std::string& name) {
    FakeWorker& liar = world.AddWorker(name, 1);
    liar.tamper = SayThatNoReferenceRuns;
    while (liar.sent.empty()) ASSERT_TRUE(world.Step());
    const size_t settled = world.Records(Purpose::kSearch).size();
    liar.Disconnect(true);
    while (world.Records(Purpose::kSearch).size() < settled + 3) ASSERT_TRUE(world.Step());
  };
  tell_once("liar1");
  tell_once("liar2");
  EXPECT_NE(world.GetJob(job).state, JobState::kFailed);
}

using Tamper = std::function<void(v1::MeasureResult&)>;

// By the field of a result that its assignment, or its device, decides.
std::map<std::string, Tamper> Lies() {
  const auto candidate = [](v1::MeasureResult& r) { return r.mutable_candidates(0); };
  return {
      {"trial", [](auto& r) { r.set_trial(r.trial() + 1); }},
      {"attempt", [](auto& r) { r.set_attempt(r.attempt() + 1); }},
      {"device", [](auto& r) { r.set_device("gpu7"); }},
      {"fingerprint", [](auto& r) { r.set_device_fingerprint("another"); }},
      {"candidates", [](auto& r) { r.add_candidates()->set_outcome(v1::MEASURE_OUTCOME_OK); }},
      {"none", [](auto& r) { r.clear_candidates(); }},
      {"artifact", [=](auto& r) { candidate(r)->set_artifact_digest("beef"); }},
      {"toolchain", [=](auto& r) { candidate(r)->set_toolchain("better 2"); }},
      {"outcome", [=](auto& r) { candidate(r)->set_outcome(v1::MeasureOutcome(77)); }},
      {"regime", [=](auto& r) { candidate(r)->set_regime("hot"); }},
      {"regime of a failure",
       [=](auto& r) {
         candidate(r)->clear_samples_ns();
         candidate(r)->set_outcome(v1::MEASURE_OUTCOME_CRASH);
         candidate(r)->set_regime("hot");
       }},
      {"negative", [=](auto& r) { candidate(r)->add_samples_ns(-1); }},
      {"zero", [=](auto& r) { candidate(r)->add_calibrator_ns(0); }},
      {"endless", [=](auto& r) { candidate(r)->add_samples_ns(HUGE_VAL); }},
      {"too long", [=](auto& r) { candidate(r)->add_samples_ns(3e12); }},
      {"phase", [=](auto& r) { candidate(r)->set_timing_ns(int64_t{1} << 62); }},
      {"anchor", [](auto& r) { r.set_anchor_ns(NAN); }},
      {"long anchor", [](auto& r) { r.set_anchor_ns(3.6e12); }},
      {"error", [=](auto& r) { candidate(r)->set_error_ratio(5); }},
      {"no error", [=](auto& r) { candidate(r)->set_error_ratio(NAN); }},
  };
}

TEST(FarmFaults, NothingIsStoredOfAResultThatDiffersFromItsAssignment) {
  for (const auto& [name, lie] : Lies()) {
    World world;
    FakeWorker& liar = world.AddWorker("liar", 1);
    liar.tamper = [&](const v1::Assignment&, v1::MeasureResult& result) { lie(result); };
    const int64_t job = world.Submit({.trials = 4});
    world.Run();
    ASSERT_FALSE(liar.sent.empty()) << name;
    EXPECT_TRUE(liar.WasRevoked(liar.sent.front().fence())) << name;
    for (const auto& record : world.Records(Purpose::kSearch)) {
      EXPECT_NE(record.worker, "liar") << name;
    }
    EXPECT_EQ(Only(world).quarantined().count("cpu0"), 1u) << name;
    world.AddWorker("honest");
    world.Wait(40 * kSecondNs);
    EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << name;
    EXPECT_EQ(CountLost(world), 0) << name;
  }
}

// Every worker there is says it wrong, and the job ends all the same.
TEST(FarmFaults, ATrialWhoseResultIsNeverBelievedEndsAsLost) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  worker.tamper = [](const v1::Assignment& assignment, v1::MeasureResult& result) {
    if (assignment.trial() == 5) result.mutable_candidates(0)->set_error_ratio(NAN);
  };
  const int64_t job = world.Submit({.trials = 64});
  world.Wait(60 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  const auto records = world.Records(Purpose::kSearch);
  ASSERT_EQ(records.size(), 64u);
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome == Outcome::kDeviceLost, record.trial == 5) << record.trial;
  }
}

// The daemon that assigned it is gone: what was assigned is in the store.
TEST(FarmFaults, NothingIsStoredOfSuchAResultAfterARestartEither) {
  for (const auto& [name, lie] : Lies()) {
    World world;
    FakeWorker& liar = world.AddWorker("liar", 1);
    liar.tamper = [&](const v1::Assignment&, v1::MeasureResult& result) { lie(result); };
    const int64_t job = world.Submit({.trials = 4});
    while (liar.sent.empty()) ASSERT_TRUE(world.Step()) << name;
    const int64_t fence = liar.sent.front().fence();
    world.Restart();  // before the result was looked at
    ASSERT_EQ(liar.held.count(fence), 1u) << name;
    world.Run();
    EXPECT_TRUE(liar.WasRevoked(fence)) << name;
    for (const auto& record : world.Records(Purpose::kSearch)) {
      EXPECT_NE(record.worker, "liar") << name;
    }
    world.AddWorker("honest");
    world.Wait(40 * kSecondNs);
    EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << name;
    EXPECT_EQ(CountLost(world), 0) << name;
  }
}

TEST(FarmFaults, AnArtifactThatIsGoneGivesItsLeaseUp) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  const int64_t job = world.Submit({.trials = 4});
  world.Drain();
  ASSERT_EQ(worker.assignments.size(), 1u);
  const int64_t fence = worker.assignments.front().fence();
  worker.AskFor("nothing that it was assigned");
  world.Run();
  EXPECT_FALSE(worker.WasRevoked(fence));
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
}

}  // namespace
}  // namespace hone::tuner
