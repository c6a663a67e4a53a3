// Candidates that are loaded before their run, in real processes.
#include "measure_server/candidates_ahead.h"

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "measure_server/zygote.h"
#include "support/clock.h"
#include "tests/measure_server/sample_artifacts.h"
#include "tests/measure_server/zygote_fixture.h"
#include "tests/runtime/c_module.h"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kLease = 5;

// What /proc/PID/stat says behind the process's name, which ends with the last parenthesis: its
// state, its parent and so on. Empty if there is no such process.
std::vector<std::string> StatOf(const std::string& pid) {
  std::string line;
  std::getline(std::ifstream("/proc/" + pid + "/stat"), line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  return absl::StrSplit(line.substr(name_end + 1), ' ', absl::SkipEmpty());
}

bool IsChildOf(const std::string& pid, pid_t parent) {
  constexpr size_t kParent = 1;
  const std::vector<std::string> stat = StatOf(pid);
  return stat.size() > kParent && stat[kParent] == std::to_string(parent);
}

// The page faults of the process's children that it has waited for. Every child has some.
int64_t FaultsOfEndedChildren(pid_t pid) {
  constexpr size_t kChildrensMinorFaults = 8;
  const std::vector<std::string> stat = StatOf(std::to_string(pid));
  return stat.size() > kChildrensMinorFaults ? std::stoll(stat[kChildrensMinorFaults]) : 0;
}

std::vector<std::string> ChildrenOf(pid_t parent) {
  std::vector<std::string> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (IsChildOf(pid, parent)) children.push_back(pid);
  }
  return children;
}

class CandidatesAheadTest : public ZygoteTest {
 protected:
  CandidatesAheadTest() {
    request_.lease = kLease;
    request_.candidate_count = 1;
    request_.has_reference = 1;
  }

  Zygote& zygote() { return *static_cast<Zygote*>(runner_); }
  // Waits until the zygote has so many children, or ten seconds are over.
  std::vector<std::string> AwaitChildren(size_t count) {
    const int64_t end_ns = Clock::Real().NowNs() + 10'000'000'000;
    std::vector<std::string> children = ChildrenOf(zygote().pid());
    while (children.size() != count && Clock::Real().NowNs() < end_ns) {
      sched_yield();
      children = ChildrenOf(zygote().pid());
    }
    return children;
  }
  void LoadAhead(const Artifact& artifact) { runner_->LoadAhead(request_, {artifact.fd()}); }
  RunReport Measure(const Artifact& artifact) {
    const absl::StatusOr<int> reference =
        references_.Get("digest", *ToArtifact(ReferenceSource()), request_.seed, 0);
    EXPECT_TRUE(reference.ok()) << reference.status();
    const auto reports = runner_->Run(request_, reference.value_or(-1), {artifact.fd()});
    EXPECT_TRUE(reports.ok()) << reports.status();
    return reports.ok() ? reports->front() : RunReport();
  }
};

// Had the run started a process of its own, the first would still be there.
TEST_F(CandidatesAheadTest, ARunGoesOnWithTheProcessThatLoadedIt) {
  for (Zygote* const zygote : {StrictZygote(), ContainedHostZygote(), OpenClZygote()}) {
    if (zygote == nullptr) continue;
    runner_ = zygote;
    const bool is_on_device = zygote == OpenClZygote();
    request_.run_limit_ns = 60'000'000'000;  // a driver compiles in it
    const auto good = ToArtifact(is_on_device ? DeviceCandidateSource() : CandidateSource());
    LoadAhead(*good);
    EXPECT_THAT(AwaitChildren(1), SizeIs(1));
    const RunReport report = Measure(*good);
    EXPECT_EQ(report.outcome, RunOutcome::kOk) << report.message;
    EXPECT_GE(report.sample_count, 1u);
    EXPECT_THAT(ChildrenOf(zygote->pid()), IsEmpty());
  }
}

TEST_F(CandidatesAheadTest, OthersAreMeasuredMeanwhile) {
  const auto next = ToArtifact(CandidateSource("sum += 0"));
  const auto good = ToArtifact(CandidateSource());
  request_.lease = kLease + 1;
  LoadAhead(*next);
  request_.lease = kLease;
  EXPECT_EQ(Measure(*good).outcome, RunOutcome::kOk);
  EXPECT_THAT(AwaitChildren(1), SizeIs(1));
  request_.lease = kLease + 1;
  EXPECT_EQ(Measure(*next).outcome, RunOutcome::kOk);
  EXPECT_THAT(ChildrenOf(zygote().pid()), IsEmpty());
}

TEST_F(CandidatesAheadTest, WhatDoesNotLoadSaysSoInItsRun) {
  const auto bad = ToArtifact(DeviceCandidateSource());
  LoadAhead(*bad);
  const RunReport report = Measure(*bad);
  EXPECT_EQ(report.outcome, RunOutcome::kLoadError);
  EXPECT_THAT(std::string(report.message), HasSubstr("expected"));
  EXPECT_THAT(ChildrenOf(zygote().pid()), IsEmpty());
}

TEST_F(CandidatesAheadTest, ADeviceThatDoesNotOpenIsLostAsItIsWithout) {
  runner_ = MissingDeviceZygote();
  const auto good = ToArtifact(DeviceCandidateSource());
  LoadAhead(*good);
  const RunReport report = Measure(*good);
  EXPECT_EQ(report.outcome, RunOutcome::kDeviceLost);
  EXPECT_THAT(std::string(report.message), HasSubstr("opencl:99"));
}

#ifdef __x86_64__
// As a device that has too little room for several, or was spoilt by another candidate.
TEST_F(CandidatesAheadTest, WhatFailsBesideOthersRunsOnceMoreAlone) {
  runner_ = ContainedHostZygote();
  const TestFolder folder;
  std::filesystem::permissions(folder / "", std::filesystem::perms::all);
  const std::string made = folder / "made";
  const auto fails_once = ToArtifact(CandidateSource(
      "if (i == 0 && call(257, -100, (long)\"" + made + "\", 0xC1) >= 0) *(volatile int*)0 = 1",
      "static long call(long, long, long, long);\n"));
  const auto next = ToArtifact(CandidateSource("sum += 0"));
  EXPECT_EQ(Measure(*fails_once).outcome, RunOutcome::kCrash) << "it was alone";
  std::filesystem::remove(made);
  request_.lease = kLease + 1;
  LoadAhead(*next);
  request_.lease = kLease;
  const RunReport report = Measure(*fails_once);
  EXPECT_EQ(report.outcome, RunOutcome::kOk) << report.message;
  EXPECT_GE(report.sample_count, 1u);
  EXPECT_THAT(ChildrenOf(zygote().pid()), IsEmpty());
}
#endif

TEST_F(CandidatesAheadTest, NothingOutlivesAZygote) {
  auto zygote = Zygote::Start({.level = SandboxLevel::kContained});
  ASSERT_TRUE(zygote.ok()) << zygote.status();
  runner_ = zygote->get();
  LoadAhead(*ToArtifact(CandidateSource()));
  const std::vector<std::string> children = AwaitChildren(1);
  ASSERT_THAT(children, SizeIs(1));
  zygote->reset();
  EXPECT_FALSE(std::filesystem::exists("/proc/" + children[0]));
}

TEST_F(CandidatesAheadTest, ItsTimeIsLimitedAsThatOfOthers) {
  request_.run_limit_ns = 200'000'000;
  const auto endless = ToArtifact(CandidateSource("for (;;) {}"));
  LoadAhead(*endless);
  EXPECT_EQ(Measure(*endless).outcome, RunOutcome::kRunTimeout);
}

TEST_F(CandidatesAheadTest, ALeaseThatIsForgottenLeavesNothing) {
  const auto good = ToArtifact(CandidateSource());
  LoadAhead(*good);
  EXPECT_THAT(AwaitChildren(1), SizeIs(1));
  runner_->Forget(kLease + 1);
  runner_->Forget(kLease);
  EXPECT_THAT(AwaitChildren(0), IsEmpty());
  EXPECT_EQ(Measure(*good).outcome, RunOutcome::kOk) << "in a process of its own";
}

TEST_F(CandidatesAheadTest, WhatNobodyAsksForIsDroppedAfterAWhile) {
  runner_ = ForgetfulZygote();
  const auto good = ToArtifact(CandidateSource());
  const int64_t faults = FaultsOfEndedChildren(zygote().pid());
  LoadAhead(*good);
  const int64_t end_ns = Clock::Real().NowNs() + 10'000'000'000;
  while (FaultsOfEndedChildren(zygote().pid()) == faults && Clock::Real().NowNs() < end_ns) {
    sched_yield();
  }
  EXPECT_GT(FaultsOfEndedChildren(zygote().pid()), faults) << "no process was started and ended";
  EXPECT_THAT(ChildrenOf(zygote().pid()), IsEmpty());
  EXPECT_EQ(Measure(*good).outcome, RunOutcome::kOk);
}

TEST_F(CandidatesAheadTest, AnotherArtifactOfTheLeaseHasItsOwnProcess) {
  const auto good = ToArtifact(CandidateSource());
  const auto wrong = ToArtifact(CandidateSource("sum += 1"));
  LoadAhead(*good);
  EXPECT_EQ(Measure(*wrong).outcome, RunOutcome::kWrongOutput);
  EXPECT_EQ(Measure(*good).outcome, RunOutcome::kOk);
  EXPECT_THAT(ChildrenOf(zygote().pid()), IsEmpty());
}

}  // namespace
}  // namespace hone::measure
