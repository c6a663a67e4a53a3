// A report says which kernels had no trial: that nothing was won of them says nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/job_progress.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::JobInfo JobWithTrials(const std::vector<int64_t>& trials) {
  v1::JobInfo job;
  job.set_state(v1::JOB_STATE_DONE);
  job.mutable_spec()->set_limit_ns(1);
  for (size_t i = 0; i < trials.size(); ++i) {
    v1::TaskProgress& task = *job.add_tasks();
    task.set_name("kernel" + std::to_string(i));
    task.set_workload_digest("digest" + std::to_string(i));
    task.set_signature("s");
    task.set_budget(64);
    task.set_total_trials(trials[i]);
  }
  return job;
}

tuning_db::ModelFinal FinalOf(const v1::JobInfo& job) {
  tuning_db::ModelFinal final;
  final.model = "m.onnx";
  for (const v1::TaskProgress& task : job.tasks()) {
    tuning_db::ModelFinalKernel kernel;
    kernel.workload_digest = task.workload_digest();
    kernel.signature = task.signature();
    final.kernels.push_back(kernel);
  }
  return final;
}

std::string EndOf(const v1::JobInfo& job) { return std::string(StateToStatus(job).message()); }

TEST(UntriedKernels, AreNamedWhereTheTimeLimitEndedAJob) {
  EXPECT_EQ(EndOf(JobWithTrials({3, 0, 0})),
            "the time limit ended the job after 3 of 192 trials; 2 of 3 kernels were not tried at "
            "all: kernel1, kernel2; what was settled stays");
  EXPECT_THAT(EndOf(JobWithTrials({3, 64})), Not(HasSubstr("not tried")));
  EXPECT_TRUE(StateToStatus(JobWithTrials({64, 64})).ok());
}

TEST(UntriedKernels, AreNoReasonToSayThatDefaultsWon) {
  const auto verdict = [](const v1::JobInfo& job) {
    return VerdictOf(FinalOf(job), UntriedOf(job));
  };
  EXPECT_EQ(verdict(JobWithTrials({0, 0})), "m.onnx: no kernel was tried");
  EXPECT_EQ(verdict(JobWithTrials({5, 0})),
            "m.onnx: no gain: the default configs are the winners of every kernel that was "
            "tried; 1 of its 2 kernels were not tried");
  EXPECT_EQ(verdict(JobWithTrials({5, 64})),
            "m.onnx: no gain: the default configs are the winners of every kernel");
}

}  // namespace
}  // namespace hone::cli
