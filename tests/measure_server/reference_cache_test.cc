// Who is charged when a reference fails.
#include "measure_server/reference_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/digest.h"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;

class ReferenceCacheTest : public testing::Test {
 protected:
  // Answers every run with one report of its outcome.
  class Runner : public CandidateRunner {
   public:
    absl::StatusOr<std::vector<RunReport>> Run(const RunRequest& request, int,
                                               const std::vector<int>&) override {
      requests.push_back(request);
      std::vector<RunReport> reports(1);
      reports[0].outcome = outcome;
      SetMessage(&reports[0], "SIGFPE while it ran");
      return reports;
    }
    void Cancel(int64_t) override {}
    void LoadAhead(const RunRequest&, const std::vector<int>&) override {}
    void Forget(int64_t) override {}

    RunOutcome outcome = RunOutcome::kOk;
    std::vector<RunRequest> requests;
  };

  absl::StatusOr<int> Get(const std::string& workload, uint64_t seed, uint64_t limit_bytes) {
    return references_.Get(workload, *artifact_, seed, limit_bytes);
  }

  const std::shared_ptr<const Artifact> artifact_ = *Artifact::Make(Sha256Hex("code"), "code");
  Runner runner_;
  ReferenceCache references_{&runner_, 1 << 20};
};

TEST_F(ReferenceCacheTest, RunsOnceForAllCandidatesWithinTheirMemoryLimit) {
  EXPECT_TRUE(Get("workload", 1, 5000).ok());
  EXPECT_TRUE(Get("workload", 1, 5000).ok());
  ASSERT_EQ(runner_.requests.size(), 1u);
  EXPECT_EQ(runner_.requests[0].kind, RunRequest::kReference);
  EXPECT_EQ(runner_.requests[0].memory_limit_bytes, 5000u);
}

TEST_F(ReferenceCacheTest, AFailureIsRememberedForTheWorkload) {
  runner_.outcome = RunOutcome::kCrash;
  for (uint64_t seed : {1, 1, 2}) {
    const absl::StatusOr<int> failed = Get("workload", seed, 0);
    EXPECT_TRUE(absl::IsInvalidArgument(failed.status()));
    EXPECT_THAT(failed.status().ToString(), HasSubstr("reference of the workload failed"));
    EXPECT_THAT(failed.status().ToString(), HasSubstr("SIGFPE while it ran"));
  }
  EXPECT_EQ(runner_.requests.size(), 1u);
  runner_.outcome = RunOutcome::kOk;
  EXPECT_TRUE(Get("other workload", 1, 0).ok());
}

TEST_F(ReferenceCacheTest, OfManyFailuresTheOldestAreForgotten) {
  runner_.outcome = RunOutcome::kCrash;
  for (size_t i = 0; i <= ReferenceCache::kMostFailures; ++i) {
    EXPECT_FALSE(Get(std::to_string(i), 1, 0).ok());
  }
  const size_t runs = runner_.requests.size();
  EXPECT_FALSE(Get(std::to_string(ReferenceCache::kMostFailures), 1, 0).ok());
  EXPECT_EQ(runner_.requests.size(), runs);
  EXPECT_FALSE(Get("0", 1, 0).ok());
  EXPECT_EQ(runner_.requests.size(), runs + 1);
}

TEST_F(ReferenceCacheTest, ADeviceThatIsLostIsTriedAgain) {
  runner_.outcome = RunOutcome::kDeviceLost;
  EXPECT_TRUE(absl::IsAborted(Get("workload", 1, 0).status()));
  runner_.outcome = RunOutcome::kOk;
  EXPECT_TRUE(Get("workload", 1, 0).ok());
}

TEST_F(ReferenceCacheTest, MoreMemoryIsAnotherTry) {
  runner_.outcome = RunOutcome::kOutOfMemory;
  EXPECT_TRUE(absl::IsInvalidArgument(Get("workload", 1, 5000).status()));
  runner_.outcome = RunOutcome::kOk;
  EXPECT_TRUE(absl::IsInvalidArgument(Get("workload", 1, 5000).status()));
  EXPECT_TRUE(Get("workload", 1, 6000).ok());
}

}  // namespace
}  // namespace hone::measure
