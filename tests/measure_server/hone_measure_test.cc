// The program hone-measure against a daemon that the test plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "measure_server/held_cores.h"
#include "runtime/host.h"
#include "runtime/module_abi.h"
#include "runtime/target_text.h"
#include "runtime/thread_team.h"
#include "support/child_process.h"
#include "tests/measure_server/fake_daemon.h"
#include "tests/measure_server/sample_artifacts.h"
#include "tests/paths.h"
#include "tests/runtime/c_module.h"

namespace hone::measure {
namespace {

namespace v1 = hone::v1;

using ::testing::ElementsAre;

constexpr int64_t kGraceNs = 20'000'000'000;

bool IsHello(const v1::WorkRequest& m) { return m.has_hello(); }
bool IsResult(const v1::WorkRequest& m) { return m.has_result(); }

std::string LinkOf(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

class HoneMeasureTest : public testing::Test {
 protected:
  HoneMeasureTest() : address_("unix:" + (folder_ / "socket")) {}

  ChildProcess StartWorker(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> command = {
        HONE_BIN_DIR "/hone-measure", "--server", address_, "--name", "test",
        "--parent-death-signal"};
    command.insert(command.end(), flags.begin(), flags.end());
    absl::StatusOr<ChildProcess> worker = ChildProcess::Start(command);
    EXPECT_TRUE(worker.ok()) << worker.status().ToString();
    return *std::move(worker);
  }

  v1::WorkResponse Assignment(FakeDaemon& daemon, int64_t fence, const std::string& source) {
    v1::WorkResponse message;
    v1::Assignment& assignment = *message.mutable_assignment();
    assignment.set_fence(fence);
    assignment.set_trial(100 + fence);
    assignment.set_attempt(1);
    assignment.set_device("cpu0");
    const std::string& bytes = Compiled(source);
    assignment.add_candidates()->set_artifact_digest(daemon.AddArtifact(bytes));
    assignment.mutable_reference()->set_artifact_digest(
        daemon.AddArtifact(Compiled(ReferenceSource())));
    assignment.set_workload_digest("workload");
    assignment.set_seed(3);
    assignment.set_threads(1);
    assignment.mutable_timing()->set_chunk_ns(200'000);
    assignment.mutable_timing()->set_min_chunks(3);
    assignment.mutable_timing()->set_max_chunks(30);
    assignment.set_run_limit_ns(5'000'000'000);
    return message;
  }

  static void Acknowledge(FakeDaemon& daemon, int64_t fence) {
    v1::WorkResponse message;
    message.mutable_acknowledge()->set_fence(fence);
    daemon.Send(message);
  }

  // The exit code of a worker that ends by itself: its output ends with it.
  static int ExitOf(ChildProcess& worker) {
    EXPECT_TRUE(absl::IsUnavailable(worker.ReadLine(kGraceNs).status()));
    const int status = worker.Stop(kGraceNs);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // The only child of a process; waits until it is there.
  static pid_t ChildOf(pid_t parent) {
    const std::string task = std::to_string(parent);
    pid_t child = 0;
    for (int tries = 0; child == 0 && tries < 1000; ++tries) {
      std::ifstream("/proc/" + task + "/task/" + task + "/children") >> child;
      if (child == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_GT(child, 0);
    return child;
  }
  static pid_t ZygoteOf(const ChildProcess& worker) { return ChildOf(worker.pid()); }

  // How far a process is parted from this one.
  struct Parted {
    uid_t user = 0;
    int oom_score_adj = 0;
    int shared_namespaces = 0;

    bool operator==(const Parted&) const = default;
  };
  static Parted PartedOf(pid_t pid) {
    const std::string proc = "/proc/" + std::to_string(pid);
    Parted parted;
    struct stat info{};
    if (stat(proc.c_str(), &info) == 0) parted.user = info.st_uid;
    std::ifstream(proc + "/oom_score_adj") >> parted.oom_score_adj;
    for (const char* kind : {"net", "ipc", "uts", "mnt"}) {
      const std::string own = LinkOf("/proc/self/ns/" + std::string(kind));
      parted.shared_namespaces += LinkOf(proc + "/ns/" + kind) == own;
    }
    return parted;
  }

  // Within ten seconds. A zombie that nobody has reaped yet has ended.
  static bool Ends(pid_t pid) {
    for (int tries = 0; tries < 1000; ++tries) {
      std::string name;
      std::string state;
      std::string number;
      std::ifstream("/proc/" + std::to_string(pid) + "/stat") >> number >> name >> state;
      if (state.empty() || state == "Z" || state == "X") return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  TestFolder folder_;
  const std::string address_;
};

TEST_F(HoneMeasureTest, IntroducesItself) {
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker();
  const auto hello = daemon.ReceiveWhere(IsHello);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->hello().worker(), "test");
  EXPECT_EQ(hello->hello().artifact_abi(), static_cast<uint32_t>(HONE_MODULE_ABI_VERSION));
  EXPECT_EQ(hello->hello().sandbox(), v1::SANDBOX_LEVEL_STRICT);
  ASSERT_EQ(hello->hello().devices_size(), 1);
  const v1::Device& device = hello->hello().devices(0);
  EXPECT_EQ(device.target(), HostTargetText(HostCoreCount()));
  EXPECT_EQ(device.fingerprint().size(), 64u);
  EXPECT_GT(device.calibrator_ns(), 0);
  ASSERT_EQ(device.calibrations_size(), 1);
  EXPECT_EQ(device.calibrations(0).loop(), "compute");
  EXPECT_EQ(device.calibrations(0).median_ns(), device.calibrator_ns());
  EXPECT_EQ(device.kind(), v1::DEVICE_KIND_CPU);
  EXPECT_EQ(device.sandbox(), v1::SANDBOX_LEVEL_STRICT);
  const auto credit = daemon.Receive();
  ASSERT_TRUE(credit);
  EXPECT_EQ(credit->credit().device(), "cpu0");
  EXPECT_GE(credit->credit().count(), 2u);
}

TEST_F(HoneMeasureTest, OffersAnotherTargetThatThisMachineRuns) {
  FakeDaemon daemon(address_);
  const std::string host = HostTargetText(1);
  std::string lesser = host;
  lesser.erase(lesser.find(" -mattr=") + 8, lesser.find(',') - lesser.find(" -mattr=") - 7);
  ChildProcess worker = StartWorker({"--target", lesser, "--threads", "1"});
  const auto hello = daemon.ReceiveWhere(IsHello);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->hello().devices(0).target(), lesser);
}

TEST_F(HoneMeasureTest, SaysThatItIsEmulatedWhateverTargetItIsGiven) {
  const std::string host = HostTargetText(1);
  std::string fingerprint;
  for (const std::vector<std::string>& target :
       {std::vector<std::string>{}, {"--target", host}, {"--target", AsEmulated(host)}}) {
    FakeDaemon daemon(address_);
    std::vector<std::string> flags = {"--emulated", "--threads", "1"};
    flags.insert(flags.end(), target.begin(), target.end());
    ChildProcess worker = StartWorker(flags);
    const auto hello = daemon.ReceiveWhere(IsHello);
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->hello().devices(0).target(), AsEmulated(host));
    fingerprint = hello->hello().devices(0).fingerprint();
  }
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker({"--threads", "1"});
  const auto hello = daemon.ReceiveWhere(IsHello);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->hello().devices(0).target(), host);
  EXPECT_NE(hello->hello().devices(0).fingerprint(), fingerprint);
}

TEST_F(HoneMeasureTest, MeasuresGoodAndBadCandidatesAndLeavesWhenAsked) {
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  daemon.Send(Assignment(daemon, 1, CandidateSource()));
  daemon.Send(Assignment(daemon, 2, CandidateSource("if (i == 3) sum += 0.125f")));
  daemon.Send(Assignment(daemon, 3, CandidateSource("*(volatile int*)0 = 1")));
  const v1::MeasureOutcome expected[] = {v1::MEASURE_OUTCOME_OK, v1::MEASURE_OUTCOME_WRONG_OUTPUT,
                                         v1::MEASURE_OUTCOME_CRASH};
  for (int64_t fence = 1; fence <= 3; ++fence) {
    const auto message = daemon.ReceiveWhere(IsResult);
    ASSERT_TRUE(message);
    const v1::MeasureResult& result = message->result();
    EXPECT_EQ(result.fence(), fence);
    EXPECT_EQ(result.trial(), 100 + fence);
    EXPECT_EQ(result.device_fingerprint().size(), 64u);
    ASSERT_EQ(result.candidates_size(), 1);
    EXPECT_EQ(result.candidates(0).outcome(), expected[fence - 1])
        << result.candidates(0).message();
    EXPECT_EQ(result.candidates(0).samples_ns_size() > 0, fence == 1);
    Acknowledge(daemon, fence);
  }
  const int status = worker.Stop(kGraceNs);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(HoneMeasureTest, ReportsTheAnchorsTimeBesideTheCandidates) {
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  const std::string anchor = daemon.AddArtifact(Compiled(CandidateSource("", "#define SPEND 99")));
  double first_ns = 0;
  for (int64_t fence = 1; fence <= 2; ++fence) {
    v1::WorkResponse message = Assignment(daemon, fence, CandidateSource());
    message.mutable_assignment()->mutable_anchor()->set_artifact_digest(anchor);
    daemon.Send(message);
    const auto result = daemon.ReceiveWhere(IsResult);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->result().candidates_size(), 1);
    EXPECT_EQ(result->result().candidates(0).outcome(), v1::MEASURE_OUTCOME_OK);
    EXPECT_EQ(result->result().candidates(0).artifact_digest(),
              message.assignment().candidates(0).artifact_digest());
    EXPECT_GT(result->result().anchor_ns(), 0);
    if (fence == 1) first_ns = result->result().anchor_ns();
    EXPECT_EQ(result->result().anchor_ns(), first_ns);
    Acknowledge(daemon, fence);
  }
  EXPECT_EQ(worker.Stop(kGraceNs), 0);
}

TEST_F(HoneMeasureTest, BringsItsResultToTheDaemonThatComesBack) {
  auto daemon = std::make_unique<FakeDaemon>(address_);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon->ReceiveWhere(IsHello));
  daemon->Send(Assignment(*daemon, 5, CandidateSource()));
  ASSERT_TRUE(daemon->ReceiveWhere(IsResult));
  daemon.reset();  // before it acknowledged
  daemon = std::make_unique<FakeDaemon>(address_);
  const auto hello = daemon->ReceiveWhere(IsHello);
  ASSERT_TRUE(hello);
  EXPECT_THAT(hello->hello().held_fences(), ElementsAre(5));
  const auto result = daemon->ReceiveWhere(IsResult);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->result().fence(), 5);
  Acknowledge(*daemon, 5);
  EXPECT_EQ(worker.Stop(kGraceNs), 0);
}

// What a smaller cpuset, or a core that is taken offline, does to all threads of a process.
void LeaveCores(pid_t process, const cpu_set_t& cores) {
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    sched_setaffinity(std::stoi(task.path().filename().string()), sizeof(cores), &cores);
  }
}

TEST_F(HoneMeasureTest, ADeviceIsAwayWhileItsCoresAre) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "this machine has one core";
  FakeDaemon daemon(address_, 3);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere([](const auto& m) { return m.has_window(); }));
  v1::WorkResponse endless = Assignment(daemon, 1, CandidateSource("for (;;) {}"));
  endless.mutable_assignment()->set_run_limit_ns(600'000'000'000);
  daemon.Send(endless);
  const pid_t candidate = ChildOf(ZygoteOf(worker));
  cpu_set_t fewer = all;
  for (int core = 0; CPU_COUNT(&fewer) == CPU_COUNT(&all); ++core) CPU_CLR(core, &fewer);
  LeaveCores(worker.pid(), fewer);
  const auto gone = daemon.ReceiveWhere([](const auto& m) { return m.has_device_update(); });
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->device_update().unplugged());
  EXPECT_TRUE(Ends(candidate)) << "nobody waits for its result";
  LeaveCores(worker.pid(), all);
  const auto back = daemon.ReceiveWhere([](const auto& m) { return m.has_device_update(); });
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->device_update().unplugged());
  EXPECT_GT(back->device_update().device().calibrator_ns(), 0);
  EXPECT_TRUE(daemon.ReceiveWhere([](const auto& m) { return m.has_window(); }));
  daemon.Send(Assignment(daemon, 2, CandidateSource()));
  const auto result = daemon.ReceiveWhere(IsResult);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->result().fence(), 2);
  Acknowledge(daemon, 2);
  EXPECT_EQ(worker.Stop(kGraceNs), 0);
}

TEST_F(HoneMeasureTest, RefusesWhatItsSandboxDoesNotMeet) {
  FakeDaemon daemon(address_, 3);
  ChildProcess worker = StartWorker({"--sandbox", "limits"});
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  v1::WorkResponse message = Assignment(daemon, 1, CandidateSource());
  message.mutable_assignment()->mutable_requirements()->set_sandbox(v1::SANDBOX_LEVEL_STRICT);
  daemon.Send(message);
  const auto result = daemon.ReceiveWhere(IsResult);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->result().candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
  EXPECT_NE(result->result().candidates(0).message().find("STRICT"), std::string::npos);
  Acknowledge(daemon, 1);
  EXPECT_EQ(worker.Stop(kGraceNs), 0);
}

TEST_F(HoneMeasureTest, FinishesWhatItHoldsOnSigterm) {
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  daemon.Send(Assignment(daemon, 9, CandidateSource()));
  ASSERT_TRUE(daemon.ReceiveWhere(IsResult));
  kill(worker.pid(), SIGTERM);
  ASSERT_TRUE(daemon.ReceiveWhere([](const auto& m) { return m.has_draining(); }));
  EXPECT_FALSE(worker.HasEnded());
  Acknowledge(daemon, 9);
  EXPECT_EQ(ExitOf(worker), 0);
}

TEST_F(HoneMeasureTest, ASecondSigtermEndsItAtOnce) {
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  daemon.Send(Assignment(daemon, 9, CandidateSource()));
  ASSERT_TRUE(daemon.ReceiveWhere(IsResult));
  kill(worker.pid(), SIGTERM);
  ASSERT_TRUE(daemon.ReceiveWhere([](const auto& m) { return m.has_draining(); }));
  kill(worker.pid(), SIGTERM);
  EXPECT_EQ(ExitOf(worker), 128 + SIGTERM);
}

TEST_F(HoneMeasureTest, GivesBackWhatItHasNoTimeToMeasure) {
  FakeDaemon daemon(address_, 3);
  daemon.SetHeartbeats(600'000'000'000, 600'000'000'000);
  ChildProcess worker = StartWorker({"--drain-limit", "0"});
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  daemon.Send(Assignment(daemon, 1, CandidateSource()));
  v1::WorkResponse endless = Assignment(daemon, 2, CandidateSource("for (;;) {}"));
  endless.mutable_assignment()->set_run_limit_ns(600'000'000'000);
  daemon.Send(endless);
  ASSERT_TRUE(daemon.ReceiveWhere(IsResult));
  Acknowledge(daemon, 1);
  kill(worker.pid(), SIGTERM);
  const auto gone = daemon.ReceiveWhere([](const auto& m) { return m.has_device_update(); });
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->device_update().unplugged());
  EXPECT_EQ(ExitOf(worker), 0);
}

TEST_F(HoneMeasureTest, StaysWhereItsDrainIsTakenBack) {
  FakeDaemon daemon(address_, 3);
  daemon.SetHeartbeats(600'000'000'000, 600'000'000'000);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  daemon.Send(Assignment(daemon, 9, CandidateSource()));
  ASSERT_TRUE(daemon.ReceiveWhere(IsResult));
  v1::WorkResponse drain;
  drain.mutable_drain();
  daemon.Send(drain);
  v1::WorkResponse undrain;
  undrain.mutable_undrain();
  daemon.Send(undrain);
  const auto undrained = daemon.ReceiveWhere([](const auto& m) { return m.has_undrained(); });
  ASSERT_TRUE(undrained);
  EXPECT_FALSE(undrained->undrained().leaves()) << "its result is not acknowledged";
  Acknowledge(daemon, 9);
  daemon.Send(Assignment(daemon, 10, CandidateSource()));
  EXPECT_TRUE(daemon.ReceiveWhere(IsResult));
  Acknowledge(daemon, 10);
}

TEST_F(HoneMeasureTest, LeavesNoProcessBehindWhenItIsKilled) {
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  daemon.Send(Assignment(daemon, 1, CandidateSource()));
  v1::WorkResponse endless = Assignment(daemon, 2, CandidateSource("for (;;) {}"));
  endless.mutable_assignment()->set_run_limit_ns(600'000'000'000);
  daemon.Send(endless);
  ASSERT_TRUE(daemon.ReceiveWhere(IsResult));
  const pid_t zygote = ZygoteOf(worker);
  const pid_t candidate = ChildOf(zygote);
  kill(worker.pid(), SIGKILL);
  EXPECT_TRUE(Ends(zygote));
  EXPECT_TRUE(Ends(candidate));
}

// What a candidate of a worker of this user is parted from.
TEST_F(HoneMeasureTest, CandidatesArePartedFromTheSystemWhoeverRunsTheWorker) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has a thread of its own, with which nobody leaves a namespace";
#endif
  if (geteuid() != 0) GTEST_SKIP() << "other users take root";
  if (access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "there is no setpriv";
  const std::vector<std::string> as_nobody = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                              "--clear-groups", "--"};
  const auto works_as_nobody = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = as_nobody;
    command.insert(command.end(), arguments.begin(), arguments.end());
    absl::StatusOr<ChildProcess> probe = ChildProcess::Start(command);
    while (probe.ok() && probe->ReadLine(kGraceNs).ok()) {
    }
    return probe.ok() && probe->Stop(kGraceNs) == 0;
  };
  if (!works_as_nobody({HONE_BIN_DIR "/hone-measure", "--version"})) {
    GTEST_SKIP() << "nobody may not enter the build's folder";
  }
  const bool may_be_apart = works_as_nobody({"/usr/bin/unshare", "--user", "--net", "/bin/true"});
  FakeDaemon daemon(address_);
  std::filesystem::permissions(folder_ / "", std::filesystem::perms::all);
  std::filesystem::permissions(folder_ / "socket", std::filesystem::perms::all);
  for (const bool is_root : {true, false}) {
    std::vector<std::string> command = is_root ? std::vector<std::string>() : as_nobody;
    command.insert(command.end(), {HONE_BIN_DIR "/hone-measure", "--server", address_});
    absl::StatusOr<ChildProcess> worker = ChildProcess::Start(command);
    ASSERT_TRUE(worker.ok());
    ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
    daemon.Send(Assignment(daemon, 1, CandidateSource()));
    v1::WorkResponse endless = Assignment(daemon, 2, CandidateSource("for (;;) {}"));
    endless.mutable_assignment()->set_run_limit_ns(600'000'000'000);
    daemon.Send(endless);
    const auto result = daemon.ReceiveWhere(IsResult);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->result().candidates(0).outcome(), v1::MEASURE_OUTCOME_OK)
        << result->result().candidates(0).message();
    const bool is_apart = is_root || may_be_apart;
    const Parted expected{65534, 1000, is_apart ? 0 : 4};
    Parted found;
    // A child parts itself step by step, and the one before it may be ending yet.
    for (int tries = 0; found != expected && tries < 1000; ++tries) {
      if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      found = PartedOf(ChildOf(ZygoteOf(*worker)));
    }
    EXPECT_EQ(found.user, expected.user) << is_root;
    EXPECT_EQ(found.oom_score_adj, expected.oom_score_adj) << is_root;
    EXPECT_EQ(found.shared_namespaces, expected.shared_namespaces) << is_root;
    kill(worker->pid(), SIGKILL);
  }
}

TEST_F(HoneMeasureTest, LeavesWhenItCannotStartCandidatesAnyMore) {
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker();
  ASSERT_TRUE(daemon.ReceiveWhere(IsHello));
  kill(ZygoteOf(worker), SIGKILL);
  daemon.Send(Assignment(daemon, 1, CandidateSource()));
  const auto message = daemon.ReceiveWhere(IsResult);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->result().candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
  Acknowledge(daemon, 1);
  EXPECT_EQ(ExitOf(worker), 1);
}

TEST_F(HoneMeasureTest, LeavesWhenTheDaemonRefusesIt) {
  FakeDaemon daemon(address_);
  daemon.Refuse(absl::FailedPreconditionError("another release"));
  ChildProcess worker = StartWorker();
  EXPECT_EQ(ExitOf(worker), 7);
  EXPECT_EQ(daemon.refused(), 1);
}

TEST_F(HoneMeasureTest, LeavesWhenItsNameIsTakenForMoreThanAMoment) {
  FakeDaemon daemon(address_);
  daemon.Refuse(absl::AlreadyExistsError("the name test is taken"));
  ChildProcess worker = StartWorker();
  EXPECT_EQ(ExitOf(worker), 7);
  EXPECT_EQ(daemon.refused(), 5) << "its predecessor's stream may be about to end";
}

TEST_F(HoneMeasureTest, LeavesWhereItsCoresAreAnothers) {
  const std::string core = std::to_string(UsableCores().front());
  if (!HeldCores({UsableCores().front()}).taken().empty()) {
    GTEST_SKIP() << "a worker of somebody else measures on core " << core;
  }
  FakeDaemon daemon(address_);
  ChildProcess worker = StartWorker({"--cores", core});
  const auto hello = daemon.ReceiveWhere(IsHello);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->hello().devices(0).threads(), 1u);
  ChildProcess second =
      ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--server", address_, "--cores", core})
          .value();
  EXPECT_EQ(ExitOf(second), 7);
  ChildProcess none =
      ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--server", address_, "--cores", "1000"})
          .value();
  EXPECT_EQ(ExitOf(none), 2);
  EXPECT_EQ(worker.Stop(kGraceNs), 0);
  ChildProcess next = StartWorker({"--cores", core});
  EXPECT_TRUE(daemon.ReceiveWhere(IsHello)) << "it is free again";
  EXPECT_EQ(next.Stop(kGraceNs), 0);
}

TEST_F(HoneMeasureTest, IsAnInstanceOfItsOwnUnderADefaultNameOfItsOwn) {
  FakeDaemon daemon(address_);
  std::set<std::string> instances;
  std::set<std::string> names;
  for (int i = 0; i < 2; ++i) {
    ChildProcess worker =
        ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--server", address_}).value();
    const auto hello = daemon.ReceiveWhere(IsHello);
    ASSERT_TRUE(hello);
    instances.insert(hello->hello().instance());
    names.insert(hello->hello().worker());
    // More than host name and process number, which containers may share.
    const std::string process = "-" + std::to_string(worker.pid()) + "-";
    EXPECT_NE(hello->hello().worker().find(process), std::string::npos);
    EXPECT_NE(hello->hello().instance().find(process), std::string::npos);
    EXPECT_GT(hello->hello().worker().size(),
              hello->hello().worker().find(process) + process.size());
  }
  EXPECT_EQ(instances.size(), 2);
  EXPECT_EQ(names.size(), 2);
}

TEST_F(HoneMeasureTest, EndsAtOnceWhereItsParentHasEndedBeforeItCouldAsk) {
  FakeDaemon daemon(address_);
  // As one that the kernel gave to another parent before its first instruction.
  ChildProcess worker = StartWorker({"--parent", std::to_string(getpid() + 1)});
  EXPECT_EQ(ExitOf(worker), 1);
}

TEST_F(HoneMeasureTest, RefusesAnAddressThatNeedsTls) {
  absl::StatusOr<ChildProcess> worker =
      ChildProcess::Start({HONE_BIN_DIR "/hone-measure", "--server", "farm.example:7070"});
  ASSERT_TRUE(worker.ok());
  EXPECT_EQ(ExitOf(*worker), 2);
}

}  // namespace
}  // namespace hone::measure
