// Devices that come and go, what is required of them, and those that exclude one another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "tests/tuner/world.h"
#include "tuner/farm/device_requirements.h"
#include "tuner/farm/dispatcher.h"
#include "tuner/farm/served_devices.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;

v1::WorkerInfo Info(World& world, const std::string& worker) {
  v1::WorkerInfo found;
  world.dispatcher->ListWorkers("", [&](const auto& list) {
    for (const v1::WorkerInfo& info : list.workers) {
      if (info.worker() == worker) found = info;
    }
  });
  world.Drain();
  return found;
}

TEST(Devices, OneThatWentLosesItsLeasesAndNobodyIsToBlame) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  const int64_t job = world.Submit({.trials = 12});
  // As often as would poison a trial, and rest a device.
  for (int times = 0; times < 4; ++times) {
    world.Drain();
    ASSERT_EQ(worker.assignments.size(), 2u);
    worker.Begin();
    worker.SendUpdate("cpu0", /*unplugged=*/true);
    world.Drain();
    const v1::WorkerInfo info = Info(world, "w1");
    ASSERT_EQ(info.device_states_size(), 1);
    const v1::DeviceState& state = info.device_states(0);
    EXPECT_TRUE(state.is_away());
    EXPECT_EQ(state.away_reason(), "its cable was pulled");
    EXPECT_EQ(state.window(), 0u);
    EXPECT_EQ(state.leased(), 0u);
    EXPECT_EQ(state.losses(), 0u);
    EXPECT_TRUE(worker.assignments.empty());
    EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
    worker.SendUpdate("cpu0", /*unplugged=*/false);
    world.Drain();
    EXPECT_TRUE(worker.assignments.empty()) << "it has no window yet";
    EXPECT_TRUE(world.dispatcher->Serves(kFakeTarget));
    worker.SendWindow("cpu0");
  }
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  for (const tuning_db::Record& record : world.Records(Purpose::kSearch)) {
    EXPECT_NE(record.outcome, Outcome::kDeviceLost);
  }
}

void ExpectEachRunOnce(const FakeWorker& worker) {
  std::set<int64_t> trials;
  for (const v1::Assignment& assignment : worker.ran) {
    EXPECT_TRUE(trials.insert(assignment.trial()).second) << assignment.trial();
  }
}

// A kernel with constants, whose model has more of them than the last cache.
const JobWish kColdWish = {
    .workloads = {"weights"}, .trials = 6, .constant_bytes = int64_t{44} << 20};

// What its results say of a regime is compared with what was assigned, and stored as that.
TEST(Devices, OneThatIsCalibratedAgainMeasuresOnInTheRegimeThatWasAssigned) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  const int64_t job = world.Submit(kColdWish);
  world.Drain();
  for (int times = 0; !worker.assignments.empty(); ++times) {
    worker.Begin();
    worker.calibrator_ns = 10'000 + times;
    worker.SendUpdate("cpu0", /*unplugged=*/false);
    world.Drain();
    ASSERT_TRUE(worker.RunOne());
    world.Drain();
  }
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  ExpectEachRunOnce(worker);
  const auto records = world.Records(Purpose::kSearch);
  ASSERT_EQ(records.size(), 6u);
  for (const tuning_db::Record& record : records) {
    if (record.outcome == Outcome::kOk) EXPECT_EQ(record.regime, "cold_constants");
  }
  EXPECT_EQ(world.Records(Purpose::kConfirm).at(0).regime, "cold_constants");
  EXPECT_EQ(Info(world, "w1").device_states(0).losses(), 0u);
}

TEST(Devices, OneThatIsCalibratedAgainBeforeADaemonIsBackIsBelieved) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  const int64_t job = world.Submit(kColdWish);
  while (worker.sent.empty()) ASSERT_TRUE(world.Step());
  const int64_t trial = worker.sent.front().trial();
  worker.calibrator_ns = 12'000;
  world.Restart();  // before the result was looked at
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  ExpectEachRunOnce(worker);
  for (const tuning_db::Record& record : world.Records(Purpose::kSearch)) {
    if (record.trial == trial) EXPECT_EQ(record.regime, "cold_constants");
  }
}

TEST(Devices, WhatOneThatWentWasGivenIsGivenToAnother) {
  World world;
  FakeWorker& first = world.AddWorker("w1", 2);
  const int64_t job = world.Submit({.trials = 12});
  world.Drain();
  first.Begin();
  first.SendUpdate("cpu0", /*unplugged=*/true);
  world.AddWorker("w2", 2);
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(first.runs, 0);
}

TEST(Devices, TwoThatShareAResourceHaveNoLeasesAtOnceAndTakeTurns) {
  World world;
  auto& worker = world.workers["w1"];
  worker = std::make_unique<FakeWorker>("w1", world.dispatcher.get(), 2);
  worker->AddDevice("cpu1", "cores 0-1");
  worker->Connect();
  const int64_t job = world.Submit({.trials = 12});
  do {
    std::set<std::string> busy;
    for (const v1::Assignment& assignment : worker->assignments) busy.insert(assignment.device());
    ASSERT_LE(busy.size(), 1u);
  } while (world.Step());
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  std::map<std::string, int> runs;
  for (const v1::Assignment& assignment : worker->ran) ++runs[assignment.device()];
  EXPECT_GT(runs["cpu0"], 3);
  EXPECT_GT(runs["cpu1"], 3);
}

TEST(Devices, OneHasAWindowOfABoundedSizeWhateverItsWorkerSays) {
  World world;
  world.AddWorker("w1", 1'000'000'000);
  world.Wait(1'000'000'000);
  EXPECT_EQ(world.dispatcher->Windows(kFakeTarget), 256u);
}

TEST(Devices, OneInALesserSandboxThanIsRequiredIsGivenNothing) {
  DispatcherOptions options;
  options.sandbox = v1::SANDBOX_LEVEL_STRICT;
  World world({}, options);
  FakeWorker& worker = world.AddWorker("w1", 2);
  const int64_t job = world.Submit({.trials = 8});
  worker.SendUpdate("cpu0", /*unplugged=*/false, v1::SANDBOX_LEVEL_LIMITS);
  worker.SendWindow("cpu0");
  world.Drain();
  EXPECT_TRUE(worker.assignments.empty());
  EXPECT_FALSE(world.dispatcher->Serves(kFakeTarget));
  EXPECT_EQ(Info(world, "w1").device_states(0).barred(),
            "its sandbox is limits, this daemon requires strict");
  worker.SendUpdate("cpu0", /*unplugged=*/false, v1::SANDBOX_LEVEL_STRICT);
  world.Drain();
  ASSERT_FALSE(worker.assignments.empty());
  EXPECT_EQ(worker.assignments[0].requirements().sandbox(), v1::SANDBOX_LEVEL_STRICT);
  EXPECT_EQ(worker.assignments[0].requirements().kind(), v1::DEVICE_KIND_CPU);
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
}

TEST(Devices, OnlyThoseOfItsClassMeasureForAJob) {
  World world;
  FakeWorker& other = world.AddWorker("other", 2);
  const std::string fingerprint(64, 'a');
  const int64_t job = world.Submit({.trials = 8, .device_class = "kind=cpu,fingerprint=aaaaaaaa"});
  world.Drain();
  EXPECT_TRUE(other.assignments.empty());
  ASSERT_EQ(world.waiting.size(), 1u);
  EXPECT_THAT(world.waiting.begin()->second,
              HasSubstr("and is of the class kind=cpu,fingerprint=aaaaaaaa"));
  // Who takes any device is not held up by it.
  const int64_t any = world.Submit({.client_id = "any", .workloads = {"dense"}, .trials = 8});
  world.Run();
  EXPECT_EQ(world.GetJob(any).state, JobState::kDone);
  EXPECT_EQ(world.GetJob(job).state, JobState::kRunning);
  const int runs = other.runs;

  auto& worker = world.workers["wanted"];
  worker = std::make_unique<FakeWorker>("wanted", world.dispatcher.get(), 2);
  worker->fingerprint = fingerprint;
  worker->Connect();
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(other.runs, runs) << "it is of another class";
  EXPECT_GT(worker->runs, 0);
}

TEST(Devices, AJobIsMeasuredInTheSandboxThatItWants) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  worker.SendUpdate("cpu0", /*unplugged=*/false, v1::SANDBOX_LEVEL_LIMITS);
  worker.SendWindow("cpu0");
  const int64_t job = world.Submit({.trials = 8, .sandbox = v1::SANDBOX_LEVEL_STRICT});
  world.Drain();
  EXPECT_TRUE(worker.assignments.empty());
  EXPECT_TRUE(world.dispatcher->Serves(kFakeTarget)) << "for others";
  ASSERT_EQ(world.waiting.size(), 1u);
  EXPECT_THAT(world.waiting.begin()->second, HasSubstr("a sandbox that is strict at least"));
  worker.SendUpdate("cpu0", /*unplugged=*/false, v1::SANDBOX_LEVEL_STRICT);
  worker.SendWindow("cpu0");
  world.Drain();
  ASSERT_FALSE(worker.assignments.empty());
  EXPECT_EQ(worker.assignments[0].requirements().sandbox(), v1::SANDBOX_LEVEL_STRICT);
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
}

// Two jobs want one task; nobody can do it as the first of them wishes.
TEST(Devices, AWishThatNobodyMeetsHoldsUpNoOtherJob) {
  for (const bool by_class : {true, false}) {
    World world;
    FakeWorker& worker = world.AddWorker("w1", 2);
    worker.SendUpdate("cpu0", /*unplugged=*/false, v1::SANDBOX_LEVEL_LIMITS);
    worker.SendWindow("cpu0");
    JobWish wish{.client_id = "choosy", .trials = 8};
    if (by_class) {
      wish.device_class = "fingerprint=aaaaaaaa";
    } else {
      wish.sandbox = v1::SANDBOX_LEVEL_STRICT;
    }
    const int64_t choosy = world.Submit(wish);
    world.Run();
    EXPECT_EQ(worker.runs, 0);
    EXPECT_EQ(world.GetJob(choosy).state, JobState::kRunning);
    const int64_t any = world.Submit({.client_id = "any", .trials = 8});
    world.Run();
    EXPECT_EQ(world.GetJob(any).state, JobState::kDone);
    EXPECT_EQ(world.GetJob(choosy).state, JobState::kDone) << "what is measured counts for all";
  }
}

TEST(Devices, ReferencesAreBuiltForTheMachineThatADeviceIsIn) {
  ServedDevices served;
  const std::string cuda = "cuda -arch=sm_90";
  EXPECT_EQ(served.HostTarget(cuda), cuda) << "nobody knows";
  v1::Device cpu;
  cpu.set_target(kFakeTarget);
  v1::Device gpu;
  gpu.set_target(cuda);
  gpu.set_host_target("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -threads=8");
  served.Set({{cpu, 1}, {gpu, 1}});
  EXPECT_EQ(served.HostTarget(cuda), gpu.host_target());
  EXPECT_EQ(served.HostTarget(kFakeTarget), kFakeTarget);
}

TEST(Devices, WhatIsServedFollowsTheDevicesThereAre) {
  ServedDevices served;
  EXPECT_FALSE(served.Serves(kFakeTarget));
  EXPECT_EQ(served.Windows(kFakeTarget), 0u);
  v1::Device device;
  device.set_target(kFakeTarget);
  served.Set({{device, 2}});
  EXPECT_TRUE(served.Serves(kFakeTarget));
  EXPECT_EQ(served.Windows(kFakeTarget), 2u);
  EXPECT_FALSE(served.Set({{device, 5}})) << "it measures what it did before";
  EXPECT_EQ(served.Windows(kFakeTarget), 5u);
  served.Set({});
  EXPECT_FALSE(served.Serves(kFakeTarget));
  EXPECT_EQ(served.Windows(kFakeTarget), 0u);
}

// What a device says of itself, by what is wrong with it.
std::map<std::string, std::function<void(v1::Device&)>> Unfit() {
  const std::string cpu = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3";
  return {
      {"unknown target flag '-foo'", [](auto& d) { d.set_target("llvm -foo"); }},
      {"found \"native\"", [](auto& d) { d.set_target("native"); }},
      {"the flag -threads", [=](auto& d) { d.set_target(cpu); }},
      {"the flag -mcpu",
       [](auto& d) { d.set_target("llvm -mtriple=x86_64-linux-gnu -threads=1"); }},
      {"for the 8 threads of its target, found 2",
       [=](auto& d) {
         d.set_target(cpu + " -threads=8");
         d.set_threads(2);
       }},
      {"its host target: unknown target kind 'x'", [](auto& d) { d.set_host_target("x"); }},
      {"a CPU as its host target", [](auto& d) { d.set_host_target("cuda -arch=sm_90"); }},
      {"its kind is not", [](auto& d) { d.set_kind(v1::DEVICE_KIND_CUDA); }},
      {"finite times", [](auto& d) { d.set_calibrator_ns(NAN); }},
      {"times of at least 0 ns", [](auto& d) { d.add_calibrations()->set_median_ns(-1); }},
      {"a SHA-256", [](auto& d) { d.set_fingerprint("beef"); }},
  };
}

TEST(Devices, WhatWillNotDoIsBarredAndToldWhy) {
  v1::Device device;
  device.set_target(kFakeTarget);
  device.set_threads(2);
  device.set_fingerprint(kFakeFingerprint);
  EXPECT_EQ(WhyBarred(device, {}, v1::SANDBOX_LEVEL_UNSPECIFIED), "");
  for (const auto& [why, spoil] : Unfit()) {
    v1::Device unfit = device;
    spoil(unfit);
    EXPECT_THAT(WhyBarred(unfit, {}, v1::SANDBOX_LEVEL_UNSPECIFIED), HasSubstr(why));
  }
}

TEST(Devices, AListOfWorkersSaysHowTheyFare) {
  World world;
  auto& worker = world.workers["w1"];
  worker = std::make_unique<FakeWorker>("w1", world.dispatcher.get(), 2);
  worker->identity = "uid:1000";
  worker->instance = "w1-of-today";
  worker->Connect();
  world.Submit({.trials = 8});
  world.Drain();
  worker->Begin();
  world.Drain();
  world.clock.now_ns += 3'000'000'000;
  const v1::WorkerInfo info = Info(world, "w1");
  EXPECT_EQ(info.identity(), "uid:1000");
  EXPECT_EQ(info.instance(), "w1-of-today");
  EXPECT_EQ(info.protocol(), 3u);
  ASSERT_EQ(info.device_states_size(), info.devices_size());
  const v1::DeviceState& state = info.device_states(0);
  EXPECT_EQ(state.window(), 2u);
  EXPECT_EQ(state.leased(), 2u);
  EXPECT_EQ(state.running_fence(), worker->assignments.front().fence());
  EXPECT_EQ(state.running_ns(), 3'000'000'000);
  EXPECT_EQ(state.since_calibration_ns(), 3'000'000'000);
  EXPECT_EQ(state.rest_ns(), 0);
}

TEST(Devices, AListOfWorkersSaysWhichRestsWhyAndForHowLong) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  worker.device_lost = true;
  world.Submit({.trials = 8});
  for (int tries = 0; tries < 100 && Info(world, "w1").device_states(0).rest_ns() == 0; ++tries) {
    world.Step();
  }
  const v1::DeviceState state = Info(world, "w1").device_states(0);
  EXPECT_EQ(state.rest_ns(), DispatcherOptions().quarantine.first_ns);
  EXPECT_THAT(state.rest_reason(), HasSubstr("fell off the bus"));
  EXPECT_EQ(state.losses(), 2u);
}

}  // namespace
}  // namespace hone::tuner
