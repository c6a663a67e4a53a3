// What a worker reports of what its runner found.
#include "measure_server/measurer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure_server/deadline_measurer.h"
#include "measure_server/measurer_chain.h"
#include "support/clock.h"
#include "support/digest.h"

namespace hone::measure {
namespace {

namespace v1 = hone::v1;

using ::testing::HasSubstr;

class ManualClock : public Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t WallTimeNs() const override { return now_ns; }
  int64_t now_ns = 0;
};

// Every artifact takes 100 ns a run; those of `failing` crash. A run takes `run_ns`.
class FakeRunner : public CandidateRunner {
 public:
  explicit FakeRunner(ManualClock* clock) : clock_(clock) {}

  absl::StatusOr<std::vector<RunReport>> Run(const RunRequest& request, int,
                                             const std::vector<int>& artifact_fds) override {
    requests.push_back(request);
    counts.push_back(artifact_fds.size());
    clock_->now_ns += run_ns;
    std::vector<RunReport> reports(artifact_fds.size());
    for (size_t i = 0; i < reports.size(); ++i) {
      reports[i].outcome = artifact_fds[i] == failing ? RunOutcome::kCrash : outcome;
      reports[i].sample_count = samples;
      std::fill_n(reports[i].samples_ns, samples, time_ns);
      reports[i].is_noisy = is_noisy;
    }
    return reports;
  }
  void Cancel(int64_t lease) override { cancelled.push_back(lease); }
  void LoadAhead(const RunRequest& request, const std::vector<int>& artifact_fds) override {
    ahead.push_back(request);
    ahead_counts.push_back(artifact_fds.size());
  }
  void Forget(int64_t lease) override { forgotten.push_back(lease); }

  RunOutcome outcome = RunOutcome::kOk;
  int failing = -1;
  uint32_t samples = 3;
  uint32_t is_noisy = 0;
  double time_ns = 100;
  int64_t run_ns = 40'000'000;
  std::vector<RunRequest> requests;
  std::vector<int64_t> cancelled;
  std::vector<RunRequest> ahead;
  std::vector<size_t> ahead_counts;
  std::vector<int64_t> forgotten;
  std::vector<size_t> counts;  // of artifacts, a run

 private:
  ManualClock* const clock_;
};

class MeasurerTest : public testing::Test {
 protected:
  MeasurerTest() {
    v1::Assignment& assignment = job_.assignment;
    assignment.set_workload_digest("workload");
    v1::Candidate& candidate = *assignment.add_candidates();
    candidate.set_artifact_digest("the digest");
    candidate.set_toolchain("hone 0.1.0 LLVM 19.1.7");
    assignment.set_threads(1);
    job_.candidates.push_back(MakeArtifact("candidate"));
  }

  static std::shared_ptr<const Artifact> MakeArtifact(const std::string& bytes) {
    return *Artifact::Make(Sha256Hex(bytes), bytes);
  }
  static v1::Device TwoThreads() {
    v1::Device device;
    device.set_id("cpu0");
    device.set_threads(2);
    device.set_kind(v1::DEVICE_KIND_CPU);
    device.set_sandbox(v1::SANDBOX_LEVEL_LIMITS);
    return device;
  }
  void GiveAnchor() {
    job_.anchor = MakeArtifact("anchor");
    job_.assignment.mutable_anchor()->set_artifact_digest(job_.anchor->digest());
  }

  ManualClock clock_;
  FakeRunner runner_{&clock_};
  std::unique_ptr<Measurer> chain_ = MakeMeasurer(TwoThreads(), &runner_, &runner_, &clock_);
  Measurer& measurer_ = *chain_;
  Job job_;
};

TEST_F(MeasurerTest, EchoesWhatItMeasured) {
  runner_.is_noisy = 1;
  const v1::MeasureResult result = measurer_.Measure(job_);
  ASSERT_EQ(result.candidates_size(), 1);
  EXPECT_EQ(result.candidates(0).outcome(), v1::MEASURE_OUTCOME_OK);
  EXPECT_EQ(result.candidates(0).artifact_digest(), "the digest");
  EXPECT_EQ(result.candidates(0).toolchain(), "hone 0.1.0 LLVM 19.1.7");
  EXPECT_TRUE(result.candidates(0).noisy());
  EXPECT_EQ(result.anchor_ns(), 0);
  const v1::MeasureResult failed = FailedResult(job_.assignment, v1::MEASURE_OUTCOME_CRASH, "");
  EXPECT_EQ(failed.candidates(0).artifact_digest(), "the digest");
}

TEST_F(MeasurerTest, AReferenceThatDoesNotRunIsTheWorkloadsFault) {
  job_.reference = MakeArtifact("reference");
  runner_.failing = job_.reference->fd();
  for (int trial = 0; trial < 3; ++trial) {
    const v1::CandidateResult result = measurer_.Measure(job_).candidates(0);
    EXPECT_EQ(result.outcome(), v1::MEASURE_OUTCOME_NO_REFERENCE);
    EXPECT_THAT(result.message(), HasSubstr("the reference of the workload failed"));
  }
  EXPECT_EQ(runner_.requests.size(), 1u);
}

TEST_F(MeasurerTest, ADeviceLostInTheReferenceIsTriedAgain) {
  job_.reference = MakeArtifact("reference");
  runner_.outcome = RunOutcome::kDeviceLost;
  EXPECT_EQ(measurer_.Measure(job_).candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
  runner_.outcome = RunOutcome::kOk;
  EXPECT_EQ(measurer_.Measure(job_).candidates(0).outcome(), v1::MEASURE_OUTCOME_OK);
}

TEST_F(MeasurerTest, ASuccessWithoutTimesIsNone) {
  runner_.samples = 0;
  EXPECT_EQ(measurer_.Measure(job_).candidates(0).outcome(), v1::MEASURE_OUTCOME_CRASH);
  runner_.samples = 3;
  runner_.time_ns = 0;
  EXPECT_EQ(measurer_.Measure(job_).candidates(0).outcome(), v1::MEASURE_OUTCOME_CRASH);
}

TEST_F(MeasurerTest, TimesTheAnchorNowAndThenAndReportsItsNewestTime) {
  GiveAnchor();
  EXPECT_EQ(measurer_.Measure(job_).anchor_ns(), 100);
  runner_.time_ns = 120;
  EXPECT_EQ(measurer_.Measure(job_).anchor_ns(), 100);
  clock_.now_ns += 10 * kSecondNs;
  const v1::MeasureResult again = measurer_.Measure(job_);
  EXPECT_EQ(again.anchor_ns(), 120);
  EXPECT_EQ(again.candidates_size(), 1);
  EXPECT_THAT(runner_.counts, testing::ElementsAre(2, 1, 2));
}

TEST_F(MeasurerTest, TimesAnAnchorForEachRegimeAndNumberOfThreads) {
  GiveAnchor();
  measurer_.Measure(job_);
  job_.assignment.set_threads(2);
  measurer_.Measure(job_);
  job_.assignment.mutable_timing()->set_rotation_bytes(1 << 20);
  measurer_.Measure(job_);
  measurer_.Measure(job_);
  EXPECT_THAT(runner_.counts, testing::ElementsAre(2, 2, 2, 1));
}

TEST_F(MeasurerTest, AnAnchorThatFailsSpoilsNoTrialAndIsNotRetriedAtOnce) {
  GiveAnchor();
  runner_.failing = job_.anchor->fd();
  for (int trial = 0; trial < 3; ++trial) {
    const v1::MeasureResult result = measurer_.Measure(job_);
    EXPECT_EQ(result.candidates(0).outcome(), v1::MEASURE_OUTCOME_OK);
    EXPECT_EQ(result.anchor_ns(), 0);
  }
  EXPECT_THAT(runner_.counts, testing::ElementsAre(2, 1, 1));
}

TEST_F(MeasurerTest, ACancelledRunForgetsNoAnchor) {
  GiveAnchor();
  measurer_.Measure(job_);
  clock_.now_ns += 10 * kSecondNs;
  runner_.outcome = RunOutcome::kDeviceLost;
  EXPECT_EQ(measurer_.Measure(job_).anchor_ns(), 100);
  runner_.outcome = RunOutcome::kOk;
  measurer_.Measure(job_);
  EXPECT_THAT(runner_.counts, testing::ElementsAre(2, 2, 2));
}

TEST_F(MeasurerTest, ASlowAnchorIsTimedLessOften) {
  GiveAnchor();
  runner_.run_ns = 2 * kSecondNs;
  measurer_.Measure(job_);
  clock_.now_ns += 35 * kSecondNs;
  measurer_.Measure(job_);
  clock_.now_ns += 5 * kSecondNs;
  measurer_.Measure(job_);
  EXPECT_THAT(runner_.counts, testing::ElementsAre(2, 1, 2));
}

TEST_F(MeasurerTest, AFinalHasNoAnchor) {
  GiveAnchor();
  job_.assignment.set_rounds(7);
  EXPECT_EQ(measurer_.Measure(job_).anchor_ns(), 0);
  EXPECT_THAT(runner_.counts, testing::ElementsAre(1));
}

TEST_F(MeasurerTest, WhatADeviceDoesNotMeetIsNoCandidatesFault) {
  const auto lost_with = [&](const std::string& words) {
    const v1::CandidateResult result = measurer_.Measure(job_).candidates(0);
    EXPECT_EQ(result.outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
    EXPECT_THAT(result.message(), HasSubstr(words));
  };
  job_.assignment.set_threads(3);
  lost_with("at most 2 threads, found 3");
  job_.assignment.set_threads(2);
  v1::Requirements& wanted = *job_.assignment.mutable_requirements();
  wanted.set_sandbox(v1::SANDBOX_LEVEL_STRICT);
  lost_with("SANDBOX_LEVEL_STRICT or stricter, found cpu0 in SANDBOX_LEVEL_LIMITS");
  wanted.set_sandbox(v1::SANDBOX_LEVEL_LIMITS);
  wanted.set_kind(v1::DEVICE_KIND_CUDA);
  lost_with("a device of DEVICE_KIND_CUDA, found cpu0 of DEVICE_KIND_CPU");
  EXPECT_TRUE(runner_.requests.empty()) << "nothing of it runs";
  wanted.set_kind(v1::DEVICE_KIND_CPU);
  EXPECT_EQ(measurer_.Measure(job_).candidates(0).outcome(), v1::MEASURE_OUTCOME_OK);
}

TEST_F(MeasurerTest, LoadsATrialAheadAsItWillBeRun) {
  job_.assignment.set_fence(7);
  job_.assignment.set_seed(3);
  job_.reference = MakeArtifact("reference");
  measurer_.LoadAhead(job_);
  ASSERT_EQ(runner_.ahead.size(), 1u);
  EXPECT_EQ(runner_.ahead[0].lease, 7);
  EXPECT_EQ(runner_.ahead[0].seed, 3u);
  EXPECT_EQ(runner_.ahead[0].has_reference, 1u);
  EXPECT_THAT(runner_.ahead_counts, testing::ElementsAre(1));
  measurer_.Forget(7);
  EXPECT_THAT(runner_.forgotten, testing::ElementsAre(7));
}

TEST_F(MeasurerTest, LoadsNothingAheadThatTheDeviceDoesNotMeet) {
  job_.assignment.set_threads(3);
  measurer_.LoadAhead(job_);
  EXPECT_TRUE(runner_.ahead.empty());
}

// Measures until it is cancelled.
class EndlessMeasurer : public Measurer {
 public:
  v1::MeasureResult Measure(const Job& job) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return cancelled_ == job.assignment.fence(); });
    return FailedResult(job.assignment, v1::MEASURE_OUTCOME_OK, "");
  }
  void Cancel(int64_t fence) override {
    const std::lock_guard lock(mutex_);
    cancelled_ = fence;
    changed_.notify_all();
  }
  void LoadAhead(const Job&) override {}
  void Forget(int64_t) override {}
  bool is_lost() const override { return false; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t cancelled_ = 0;
};

TEST_F(MeasurerTest, EndsAMeasurementWhoseLeaseIsOver) {
  DeadlineMeasurer measurer(std::make_unique<EndlessMeasurer>());
  for (int64_t fence = 1; fence <= 2; ++fence) {
    job_.assignment.set_fence(fence);
    job_.assignment.set_lease_ns(1'000'000);
    const v1::MeasureResult result = measurer.Measure(job_);
    EXPECT_EQ(result.fence(), fence);
    EXPECT_EQ(result.candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
    EXPECT_THAT(result.candidates(0).message(), HasSubstr("of its lease"));
  }
}

}  // namespace
}  // namespace hone::measure
