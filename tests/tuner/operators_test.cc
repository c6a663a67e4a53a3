// What operators say of workers, and what they are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "support/clock.h"
#include "tests/tuner/world.h"
#include "tuner/farm/dispatcher.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using tuning_db::JobState;
using tuning_db::Purpose;

Dispatcher::Workers List(World& world, const std::string& worker = "") {
  Dispatcher::Workers listed;
  world.dispatcher->ListWorkers(worker, [&](auto workers) { listed = std::move(workers); });
  world.Drain();
  return listed;
}

absl::StatusOr<v1::QuarantineWorkerResponse> Quarantine(World& world, const std::string& worker,
                                                        const std::string& device = "",
                                                        const std::string& reason = "it drifts") {
  absl::StatusOr<v1::QuarantineWorkerResponse> answer = absl::UnknownError("no answer");
  world.dispatcher->QuarantineWorker(
      {.worker = worker, .device = device, .reason = reason, .by = "ann"},
      [&](auto answered) { answer = std::move(answered); });
  world.Drain();
  return answer;
}

absl::StatusOr<v1::ReleaseWorkerResponse> Release(World& world, const std::string& worker,
                                                  const std::string& device = "") {
  absl::StatusOr<v1::ReleaseWorkerResponse> answer = absl::UnknownError("no answer");
  world.dispatcher->ReleaseWorker(worker, device,
                                  [&](auto answered) { answer = std::move(answered); });
  world.Drain();
  return answer;
}

void DrainWorker(World& world, const std::string& worker) {
  absl::Status answer = absl::UnknownError("no answer");
  world.dispatcher->DrainWorker(worker, [&](absl::Status status) { answer = status; });
  world.Drain();
  EXPECT_TRUE(answer.ok()) << answer;
}

// Its answer, once there is one.
std::shared_ptr<std::optional<absl::Status>> Undrain(World& world, const std::string& worker) {
  auto answer = std::make_shared<std::optional<absl::Status>>();
  world.dispatcher->UndrainWorker(worker, [answer](absl::Status status) { *answer = status; });
  world.Drain();
  return answer;
}

v1::WorkRequest Undrained(bool leaves) {
  v1::WorkRequest message;
  message.mutable_undrained()->set_leaves(leaves);
  return message;
}

v1::WorkRequest Draining() {
  v1::WorkRequest message;
  message.mutable_draining();
  return message;
}

// ---- quarantine ----

TEST(Operators, AWorkerInQuarantineFinishesWhatItHoldsAndIsGivenNothingMore) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  world.Submit({.trials = 12});
  world.Drain();
  ASSERT_EQ(worker.assignments.size(), 2u);
  const auto answer = Quarantine(world, "w1");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->is_connected());
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
  world.Run();
  EXPECT_EQ(worker.runs, 2);
  int measured = 0;  // what does not build is settled all the same
  const auto records = world.Records(Purpose::kSearch);
  for (const tuning_db::Record& record : records) measured += record.worker == "w1";
  EXPECT_EQ(measured, 2);
  const v1::WorkerInfo info = List(world).workers.at(0);
  ASSERT_EQ(info.quarantines_size(), 1);
  EXPECT_EQ(info.quarantines(0).by(), "ann");
  EXPECT_EQ(info.quarantines(0).reason(), "it drifts");
  EXPECT_EQ(info.quarantines(0).device(), "");
}

TEST(Operators, AReleasedWorkerGoesOn) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  ASSERT_TRUE(Quarantine(world, "w1").ok());
  ASSERT_TRUE(Quarantine(world, "w1", "cpu0").ok());
  const int64_t job = world.Submit({.trials = 12});
  world.Run();
  EXPECT_EQ(worker.runs, 0);
  ASSERT_EQ(Release(world, "w1", "cpu0")->ended_size(), 1);
  world.Run();
  EXPECT_EQ(worker.runs, 0) << "all of the worker is still in quarantine";
  const auto released = Release(world, "w1");
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_EQ(released->ended_size(), 1);
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_TRUE(absl::IsNotFound(Release(world, "w1").status()));
}

TEST(Operators, ADeviceInQuarantineLeavesItsWorkersOthers) {
  World world;
  auto& worker = world.workers["w1"];
  worker = std::make_unique<FakeWorker>("w1", world.dispatcher.get(), 2);
  worker->AddDevice("cpu1", "");
  worker->Connect();
  world.Drain();
  ASSERT_TRUE(Quarantine(world, "w1", "cpu0")->is_connected());
  const absl::Status none = Quarantine(world, "w1", "cpu7").status();
  EXPECT_TRUE(absl::IsNotFound(none)) << none;
  EXPECT_THAT(none.message(), testing::HasSubstr("has no device cpu7; it has: cpu0"));
  const int64_t job = world.Submit({.trials = 12});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  for (const v1::Assignment& assignment : worker->ran) EXPECT_EQ(assignment.device(), "cpu1");
}

TEST(Operators, AQuarantineOfAWorkerThatIsNotThereWaitsForIt) {
  World world;
  EXPECT_FALSE(Quarantine(world, "w1")->is_connected());
  ASSERT_EQ(List(world).of_gone.size(), 1u);
  EXPECT_EQ(List(world, "w1").of_gone.at(0).reason, "it drifts");
  EXPECT_THAT(List(world, "w2").of_gone, IsEmpty());
  FakeWorker& worker = world.AddWorker("w1", 2);
  world.Submit({.trials = 12});
  world.Run();
  EXPECT_EQ(worker.runs, 0);
  EXPECT_THAT(List(world).of_gone, IsEmpty());
}

TEST(Operators, AQuarantineNeedsAWorkerAndAReason) {
  World world;
  EXPECT_TRUE(absl::IsInvalidArgument(Quarantine(world, "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Quarantine(world, "w1", "", "").status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(Quarantine(world, "w1", "", std::string(1025, 'x')).status()));
  EXPECT_THAT(List(world).of_gone, IsEmpty());
}

TEST(Operators, AReleaseEndsTheRestOfADeviceThatLostMeasurements) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  worker.device_lost = true;
  const int64_t job = world.Submit({.trials = 6});
  world.Run();
  ASSERT_FALSE(world.dispatcher->Serves(kFakeTarget)) << "it lost two";
  ASSERT_EQ(world.store->ListDeviceRests()->size(), 1u);
  worker.device_lost = false;
  const auto released = Release(world, "w1");
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_THAT(released->rested_devices(), ElementsAre("cpu0"));
  EXPECT_THAT(world.store->ListDeviceRests().value(), IsEmpty());
  EXPECT_TRUE(world.dispatcher->Serves(kFakeTarget));
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
}

TEST(Operators, WhatAnotherDaemonWasToldIsTakenUnlessThisOneKnowsBetter) {
  World world;
  const int64_t before = world.dispatcher->QuarantineChange();
  const auto read = world.store->ListQuarantines().value();
  ASSERT_TRUE(Quarantine(world, "w1").ok());
  world.dispatcher->SetQuarantines(read, before);
  world.Drain();
  EXPECT_EQ(List(world).of_gone.size(), 1u) << "it was read before the quarantine";
  ASSERT_TRUE(world.store->EndQuarantines("w1", "").ok());
  world.dispatcher->SetQuarantines(world.store->ListQuarantines().value(),
                                   world.dispatcher->QuarantineChange());
  EXPECT_THAT(List(world).of_gone, IsEmpty());
}

// ---- undrain ----

TEST(Operators, AWorkerThatStaysIsGivenWorkAgain) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  DrainWorker(world, "w1");
  worker.Send(Draining());
  world.Drain();
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
  const auto answer = Undrain(world, "w1");
  EXPECT_TRUE(worker.received.back().has_undrain());
  EXPECT_FALSE(answer->has_value()) << "the worker has not said that it stays";
  worker.Send(Undrained(/*leaves=*/false));
  world.Drain();
  EXPECT_TRUE(answer->value().ok()) << **answer;
  const int64_t job = world.Submit({.trials = 6});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
}

TEST(Operators, AnAnswerToTheDrainIsNoneToTheUndrain) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  DrainWorker(world, "w1");
  const auto answer = Undrain(world, "w1");
  worker.Send(Draining());
  world.Drain();
  EXPECT_FALSE(answer->has_value());
  worker.Send(Undrained(/*leaves=*/false));
  world.Drain();
  EXPECT_TRUE(answer->value().ok()) << **answer;
  EXPECT_TRUE(world.dispatcher->Serves(kFakeTarget));
}

TEST(Operators, OfADrainThatIsSaidAgainTheLastWordCounts) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  DrainWorker(world, "w1");
  const auto answer = Undrain(world, "w1");
  DrainWorker(world, "w1");
  EXPECT_TRUE(absl::IsAborted(answer->value())) << **answer;
  worker.Send(Undrained(/*leaves=*/false));
  world.Drain();
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
}

TEST(Operators, AnUndrainSaysWhyAWorkerDoesNotStay) {
  World world;
  EXPECT_TRUE(absl::IsNotFound(**Undrain(world, "w1")));
  FakeWorker& worker = world.AddWorker("w1", 2);
  EXPECT_TRUE(absl::IsFailedPrecondition(**Undrain(world, "w1"))) << "it does not drain";
  DrainWorker(world, "w1");
  const auto leaves = Undrain(world, "w1");
  worker.Send(Undrained(/*leaves=*/true));
  world.Drain();
  EXPECT_THAT(leaves->value().ToString(), HasSubstr("leaves all the same"));
  const auto silent = Undrain(world, "w1");
  world.Wait(11 * kSecondNs);
  ASSERT_TRUE(silent->has_value());
  EXPECT_THAT((*silent)->ToString(), HasSubstr("older release"));
  const auto gone = Undrain(world, "w1");
  worker.Disconnect(true);
  world.Drain();
  EXPECT_THAT(gone->value().ToString(), HasSubstr("has left"));
  FakeWorker& second = world.AddWorker("w2", 2);
  second.Send(Draining());
  world.Drain();
  EXPECT_THAT((*Undrain(world, "w2"))->ToString(), HasSubstr("by its own will"));
}

TEST(Operators, ADaemonThatStopsAnswersWhoWaits) {
  World world;
  world.AddWorker("w1", 2);
  DrainWorker(world, "w1");
  const auto answer = Undrain(world, "w1");
  world.dispatcher->CloseAll();
  world.Drain();
  EXPECT_TRUE(absl::IsUnavailable(answer->value())) << **answer;
}

// ---- what is shown ----

TEST(Operators, AWorkerIsShownWithWhoHoldsWhichTrialForHowLong) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  const int64_t job = world.Submit({.trials = 12});
  world.Drain();
  world.clock.now_ns += 3 * kSecondNs;
  worker.Begin();
  world.Drain();
  world.clock.now_ns += 2 * kSecondNs;
  const v1::DeviceState state = List(world, "w1").workers.at(0).device_states(0);
  ASSERT_EQ(state.leases_size(), 2);
  const v1::HeldLease& running = state.leases(0);
  EXPECT_EQ(running.fence(), worker.assignments[0].fence());
  EXPECT_EQ(running.trial(), worker.assignments[0].trial());
  EXPECT_EQ(running.job(), job);
  EXPECT_EQ(running.task(), 1);
  EXPECT_EQ(running.attempt(), 1u);
  EXPECT_EQ(running.held_ns(), 5 * kSecondNs);
  EXPECT_EQ(running.running_ns(), 2 * kSecondNs);
  EXPECT_GT(running.limit_ns(), 0);
  EXPECT_FALSE(running.is_settling());
  EXPECT_EQ(state.leases(1).running_ns(), 0) << "it waits";
  EXPECT_EQ(List(world).workers.at(0).device_states(0).leases_size(), 0) << "in a list";
}

TEST(Operators, ResultsAreCountedByOutcomeOverStreams) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  int asked = 0;
  worker.tamper = [&asked](const v1::Assignment&, v1::MeasureResult& result) {
    if (++asked % 4 != 0) return;
    result.mutable_candidates(0)->set_outcome(v1::MEASURE_OUTCOME_WRONG_OUTPUT);
    result.mutable_candidates(0)->clear_samples_ns();
  };
  world.Submit({.trials = 40});
  world.Run(60);
  worker.Disconnect(false);
  world.Drain();
  worker.Connect();
  world.Run();
  std::map<std::string, uint64_t> expected;
  const auto records = world.store->Records({}).value();
  for (const tuning_db::Record& record : records) {
    if (!record.worker.empty()) ++expected[std::string(Name(record.outcome))];
  }
  ASSERT_GT(expected["wrong_output"], 0u);
  const v1::DeviceTally tally = List(world).workers.at(0).device_states(0).tally();
  const std::map<std::string, uint64_t> settled(tally.settled().begin(), tally.settled().end());
  EXPECT_EQ(settled, expected);
  EXPECT_EQ(tally.lost(), 0u);
}

TEST(Operators, LostDevicesAreCounted) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  worker.device_lost = true;
  world.Submit({.trials = 6});
  world.Run();
  EXPECT_EQ(List(world).workers.at(0).device_states(0).tally().lost(), 2u);
}

TEST(Operators, TheLastCalibrationsAreShownWithTheirTime) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  world.Drain();
  for (int times = 1; times <= 20; ++times) {
    world.clock.now_ns += kSecondNs;
    worker.calibrator_ns = 1000 + times;
    worker.SendUpdate("cpu0", /*unplugged=*/false);
    world.Drain();
  }
  worker.Disconnect(false);
  world.Drain();
  worker.Connect();  // says the same again
  world.Drain();
  world.clock.now_ns += kSecondNs;
  const v1::DeviceState state = List(world, "w1").workers.at(0).device_states(0);
  ASSERT_EQ(state.calibrations_size(), 16);
  EXPECT_EQ(state.calibrations(15).calibrator_ns(), 1020);
  EXPECT_EQ(state.calibrations(15).ago_ns(), kSecondNs);
  EXPECT_EQ(state.calibrations(0).calibrator_ns(), 1005);
  EXPECT_EQ(state.calibrations(0).ago_ns(), 16 * kSecondNs);
  EXPECT_EQ(List(world).workers.at(0).device_states(0).calibrations_size(), 0) << "in a list";
}

}  // namespace
}  // namespace hone::tuner
