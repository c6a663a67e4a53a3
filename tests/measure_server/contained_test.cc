// What becomes of candidates on a device behind a driver, in real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "measure_server/zygote.h"
#include "tests/measure_server/sample_artifacts.h"
#include "tests/measure_server/zygote_fixture.h"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;

class ContainedTest : public ZygoteTest {
 protected:
  void SetUp() override {
    if (OpenClZygote() == nullptr) GTEST_SKIP() << "this machine has no device of OpenCL";
    runner_ = OpenClZygote();
    request_.run_limit_ns = 60'000'000'000;  // the driver compiles in it
  }
};

TEST_F(ContainedTest, MeasuresAGoodCandidate) {
  const std::vector<RunReport> reports = Run({DeviceCandidateSource()});
  ASSERT_EQ(reports.size(), 1u);
  const RunReport& report = reports[0];
  EXPECT_EQ(report.outcome, RunOutcome::kOk) << report.message;
  EXPECT_EQ(report.sample_count, request_.plan.min_chunks);
  for (uint32_t i = 0; i < report.sample_count; ++i) {
    EXPECT_GT(report.samples_ns[i], 0);
    EXPECT_GT(report.calibrator_ns[i], 0);
  }
  EXPECT_LE(report.error_ratio, 1);
  EXPECT_EQ(report.is_noisy, 0u);
}

TEST_F(ContainedTest, TakesTurnsInAFinal) {
  request_.rounds = 3;
  for (const RunReport& report :
       Run({DeviceCandidateSource(), DeviceCandidateSource("sum += 0;")})) {
    EXPECT_EQ(report.outcome, RunOutcome::kOk) << report.message;
    EXPECT_EQ(report.sample_count, 3u);
  }
}

TEST_F(ContainedTest, FindsWrongOutputs) {
  Expect(DeviceCandidateSource("if (i == 3) sum += 1;"), RunOutcome::kWrongOutput, "y");
  Expect(DeviceCandidateSource("if (i == 7) sum = 1;"), RunOutcome::kWrongOutput, "y");
  Expect(DeviceCandidateSource("if (i == 3) return;"), RunOutcome::kWrongOutput, "y");
}

// Later runs of a kernel that spoils its own input are wrong.
TEST_F(ContainedTest, FindsWhatOnlyLaterRunsComputeWrong) {
  Expect(DeviceCandidateSource("if (i < 6) x[i * 32] = 100;"), RunOutcome::kWrongOutput,
         "(after it was timed)");
}

TEST_F(ContainedTest, FindsWritesBeyondABuffer) {
  for (const char* const buffer : {"x", "t", "y"}) {
    const std::string name = buffer;
    Expect(DeviceCandidateSource("if (i == 0) " + name + "[-1] = 1;"), RunOutcome::kWrongOutput,
           "wrote beyond the ends of buffer " + name);
  }
  Expect(DeviceCandidateSource("y[8 + i] = 1;"), RunOutcome::kWrongOutput,
         "wrote beyond the ends of buffer y");
}

TEST_F(ContainedTest, SaysWhatTheDriverDoesNotBuild) {
  Expect(DeviceCandidateSource("nonsense;"), RunOutcome::kLoadError,
         "to build the module's code, found CL_BUILD_PROGRAM_FAILURE");
  Expect(CandidateSource(), RunOutcome::kLoadError, "expected a module for a device of OpenCL");
}

TEST_F(ContainedTest, EndsWhatHangsOrCrashesAndGoesOn) {
  request_.run_limit_ns = 5'000'000'000;
  Expect(DeviceCandidateSource("for (volatile int n = 1; n > 0; n = n % 7 + 1) {}"),
         RunOutcome::kRunTimeout, "killed when its time was over, in the output check");
  request_.run_limit_ns = 60'000'000'000;
  Expect(DeviceCandidateSource("y[1L << 40] = sum;"), RunOutcome::kCrash, "");
  Expect(DeviceCandidateSource(), RunOutcome::kOk, "");
}

TEST_F(ContainedTest, ADeviceThatDoesNotOpenIsNoFaultOfACandidate) {
  runner_ = MissingDeviceZygote();
  Expect(DeviceCandidateSource(), RunOutcome::kDeviceLost, "expected a device opencl:99");
}

}  // namespace
}  // namespace hone::measure
