// What becomes of candidates on a device behind a driver, in real processes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

// A kernel that spoils its own input is wrong in later runs.
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

#ifdef __x86_64__
// Candidates that start a process of another session, which has no parent and the same end of a
// pipe open, as code of a driver might.
class StartingTest : public ZygoteTest {
 protected:
  void SetUp() override {
    runner_ = ContainedHostZygote();
    const std::string folder = "/tmp/hone-starting-" + std::to_string(getpid());
    path_ = folder + "/pipe";
    mkdir(folder.c_str(), 0700);
    // The candidate may be another user.
    chmod(folder.c_str(), 0711);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    chmod(path_.c_str(), 0622);
    end_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(end_, 0);
  }
  void TearDown() override {
    close(end_);
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }

  // What it does after that, on its first run.
  std::string Starting(const std::string& then) const {
    return CandidateSource(
        "if (i == 0 && made++ == 0) { start(); " + then + "; }",
        "static long made;\n"
        "static long call(long, long, long, long);\n"
        "enum { kRead, kWrite, kPause = 34, kFork = 57, kExit = 60, kWait = 61, kSetsid = 112,\n"
        "       kOpenAt = 257 };\n"
        "static void start(void) {\n"
        "  const char* const path = \"" +
            path_ +
            "\";\n"
            "  const long fd = call(kOpenAt, -100, (long)path, 1);\n"
            "  const long between = call(kFork, 0, 0, 0);\n"
            "  if (between == 0) {\n"
            "    call(kSetsid, 0, 0, 0);\n"
            "    if (call(kFork, 0, 0, 0) == 0) {\n"
            "      call(kWrite, fd, (long)\"s\", 1);\n"
            "      for (;;) call(kPause, 0, 0, 0);\n"
            "    }\n"
            "    call(kExit, 0, 0, 0);\n"
            "  }\n"
            "  call(kWait, between, 0, 0);\n"
            "}\n");
  }
  // That it was there, and is no more.
  void ExpectItStartedAndEnded() const {
    char bytes[2];
    EXPECT_EQ(read(end_, bytes, sizeof(bytes)), 1);
    EXPECT_EQ(read(end_, bytes, sizeof(bytes)), 0);
  }

  std::string path_;
  int end_ = -1;
};

TEST_F(StartingTest, NothingOutlivesACandidateWhoseTimeIsOver) {
  request_.run_limit_ns = 2'000'000'000;
  Expect(Starting("for (;;) {}"), RunOutcome::kRunTimeout, "killed when its time was over");
  ExpectItStartedAndEnded();
}

TEST_F(StartingTest, NothingOutlivesACandidateThatCrashes) {
  Expect(Starting("*(volatile int*)0x10000 = 1"), RunOutcome::kCrash, "SIGSEGV");
  ExpectItStartedAndEnded();
}

TEST_F(StartingTest, NothingOutlivesAGoodCandidate) {
  Expect(Starting(""), RunOutcome::kOk, "");
  ExpectItStartedAndEnded();
}
#endif

}  // namespace
}  // namespace hone::measure
