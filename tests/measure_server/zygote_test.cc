// What becomes of candidates of every kind, in real processes.
#include "measure_server/zygote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "measure_server/artifact_cache.h"
#include "measure_server/reference_cache.h"
#include "runtime/host_cpu.h"
#include "support/digest.h"
#include "support/median.h"
#include "tests/measure_server/sample_artifacts.h"
#include "tests/measure_server/zygote_fixture.h"

namespace hone::measure {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;

TEST_F(ZygoteTest, MeasuresAGoodCandidate) {
  const std::vector<RunReport> reports = Run({CandidateSource()});
  ASSERT_EQ(reports.size(), 1u);
  const RunReport& report = reports[0];
  EXPECT_EQ(report.outcome, RunOutcome::kOk) << report.message;
  EXPECT_GE(report.sample_count, 1u);
  for (uint32_t i = 0; i < report.sample_count; ++i) {
    EXPECT_GT(report.samples_ns[i], 0);
    EXPECT_GT(report.calibrator_ns[i], 0);
  }
  EXPECT_LE(report.error_ratio, 1);
  EXPECT_GT(report.timing_ns, 0);
}

TEST_F(ZygoteTest, MeasuresOnSeveralThreads) {
  request_.threads = 2;
  Expect(CandidateSource(), RunOutcome::kOk, "");
}

// The kernel lends them to who asks, which opening the artifact does where its launches say so.
TEST_F(ZygoteTest, LendsTileRegistersToWhatSaysThatItWorksInThem) {
  const std::vector<std::string>& features = HostFeatures();
  if (std::find(features.begin(), features.end(), "amx-tile") == features.end()) {
    GTEST_SKIP() << "this machine has no tile registers";
  }
  const char* const uses_tiles =
      "static const unsigned char shapes[64] = {[0] = 1, [16] = 64, [48] = 16}; "
      "__asm__ volatile(\"ldtilecfg %0; tilezero %%tmm0; tilerelease\" : : \"m\"(shapes))";
  request_.threads = 2;
  Expect(CandidateSource(uses_tiles, "#define RUN_FLAGS HONE_LAUNCH_TILES\n"), RunOutcome::kOk, "");
  Expect(CandidateSource(uses_tiles), RunOutcome::kCrash, "SIGILL");
}

TEST_F(ZygoteTest, ChecksAndTimesWithSubnormalNumbersAsZeroWhereDeployedSo) {
  const char* const tells = "volatile float tiny = 1e-30f; if (tiny * 1e-10f != 0) sum += 0.125f";
  request_.threads = 2;
  Expect(CandidateSource(tells, "#define RUN_FLAGS HONE_LAUNCH_FLUSH_SUBNORMALS\n"),
         RunOutcome::kOk, "");
  Expect(CandidateSource(tells), RunOutcome::kWrongOutput, "y[0]");
}

TEST_F(ZygoteTest, MeasuresOverRotatingConstants) {
  request_.plan.rotation_bytes = 64 << 20;
  const std::vector<RunReport> reports = Run({CandidateSource()});
  EXPECT_EQ(reports.at(0).outcome, RunOutcome::kOk) << reports.at(0).message;
  EXPECT_EQ(reports.at(0).constants_rotate, 1u);
}

TEST_F(ZygoteTest, SaysThatConstantsStayedWarmWhereTheirCopiesDoNotFit) {
  request_.plan.rotation_bytes = 64 << 20;
  request_.memory_limit_bytes = 1 << 20;
  const std::vector<RunReport> reports = Run({CandidateSource()});
  EXPECT_EQ(reports.at(0).outcome, RunOutcome::kOk) << reports.at(0).message;
  EXPECT_EQ(reports.at(0).constants_rotate, 0u);
}

TEST_F(ZygoteTest, FindsAWrongElement) {
  Expect(CandidateSource("if (i == 3) sum += 0.125f"), RunOutcome::kWrongOutput, "y[3]");
}

TEST_F(ZygoteTest, FindsWhatIsWrongOnlyInTheLastBits) {
  Expect(CandidateSource("if (i == 3) sum *= 1.0001f"), RunOutcome::kWrongOutput, "y[3]");
}

TEST_F(ZygoteTest, FindsAnUnwrittenElement) {
  Expect(CandidateSource("if (i == 2) continue"), RunOutcome::kWrongOutput, "y[2] is nan");
}

TEST_F(ZygoteTest, FindsDirtyPadLanes) {
  Expect(CandidateSource("", "#define PAD 1"), RunOutcome::kWrongOutput, "pad lane");
}

TEST_F(ZygoteTest, FindsAWriteIntoTheRedZone) {
  Expect(CandidateSource("y[9] = 1"), RunOutcome::kWrongOutput, "beyond the ends of buffer y");
}

TEST_F(ZygoteTest, FindsAWriteFarBeyondTheOutput) {
  Expect(CandidateSource("y[16] = 1"), RunOutcome::kCrash, "SIGSEGV in the output check");
}

TEST_F(ZygoteTest, FindsAWriteToAnInput) {
  Expect(CandidateSource("((float*)x)[0] = 1"), RunOutcome::kCrash, "SIGSEGV");
}

TEST_F(ZygoteTest, NamesTheSignalOfACrash) {
  Expect(CandidateSource("__builtin_trap()"), RunOutcome::kCrash, "SIGILL in the output check");
  Expect(CandidateSource("*(volatile int*)0 = 1"), RunOutcome::kCrash, "SIGSEGV");
}

TEST_F(ZygoteTest, EndsACandidateThatSpinsForEver) {
  request_.run_limit_ns = 200'000'000;
  Expect(CandidateSource("for (;;) {}"), RunOutcome::kRunTimeout, "its time was over");
}

TEST_F(ZygoteTest, ACancelledRunEndsAtOnceOrDoesNotBegin) {
  request_.run_limit_ns = 600'000'000'000;
  request_.candidate_count = 2;
  const auto endless = ToArtifact(CandidateSource("for (;;) {}"));
  for (request_.lease = 7; request_.lease < 9; ++request_.lease) {
    // Once, before it begins or while it runs.
    std::thread cancelling([&] { runner_->Cancel(request_.lease); });
    const auto reports = runner_->Run(request_, -1, {endless->fd(), endless->fd()});
    cancelling.join();
    ASSERT_TRUE(reports.ok());
    ASSERT_EQ(reports->size(), 2u);
    for (const RunReport& report : *reports) {
      EXPECT_EQ(report.outcome, RunOutcome::kDeviceLost);
      EXPECT_STREQ(report.message, "cancelled");
    }
  }
  runner_->Cancel(7);  // which has ended
  Expect(CandidateSource(), RunOutcome::kOk, "");
}

TEST_F(ZygoteTest, ReportsMemoryThatIsNotThere) {
  request_.memory_limit_bytes = 64 << 20;
  Expect(CandidateSource("", "#define WORKSPACE_BYTES (8ll << 30)"), RunOutcome::kOutOfMemory,
         "no memory");
}

TEST_F(ZygoteTest, RefusesWhatIsNoArtifact) {
  const auto text = *Artifact::Make(Sha256Hex("no ELF"), "no ELF");
  request_.candidate_count = 1;
  const auto reports = runner_->Run(request_, -1, {text->fd()});
  ASSERT_TRUE(reports.ok());
  EXPECT_EQ(reports->at(0).outcome, RunOutcome::kLoadError);
  EXPECT_THAT(std::string(reports->at(0).message), HasSubstr("no shared object"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__x86_64__)
TEST_F(ZygoteTest, StrictForbidsNetworkFilesAndProcesses) {
  for (const int number :
       {SYS_socket, SYS_openat, SYS_fork, SYS_execve, SYS_kill, SYS_clone3, SYS_mremap}) {
    Expect(CandidateSource("call(" + std::to_string(number) + ", 2, 1, 0)"), RunOutcome::kCrash,
           "SIGSYS in the output check");
  }
}

TEST_F(ZygoteTest, LimitsAllowsWhatStrictForbids) {
  runner_ = LenientZygote();
  Expect(CandidateSource("call(39, 0, 0, 0)"), RunOutcome::kOk, "");
  Expect(CandidateSource("call(41, 2, 1, 0)"), RunOutcome::kOk, "");
}
#endif

#ifdef __x86_64__
TEST_F(ZygoteTest, RunningOutOfProcessorTimeIsATimeout) {
  runner_ = LenientZygote();
  const std::string raise = "call(62, call(39, 0, 0, 0), " + std::to_string(SIGXCPU) + ", 0)";
  Expect(CandidateSource(raise), RunOutcome::kRunTimeout, "SIGXCPU in the output check");
}

TEST_F(ZygoteTest, ACandidateCannotSpoilWhatOthersUse) {
  // Whatever it finds open, it maps for writing and overwrites.
  const auto bad = ToArtifact(CandidateSource(
      "if (i == 0) for (long fd = 0; fd < 256; ++fd) {"
      "  const long page = call6(9, 0, 4096, 3, 1, fd, 0);"
      "  for (long at = 0; page > 0 && at < 512; ++at) ((volatile long*)page)[at] = 0x66; }"));
  const auto good = ToArtifact(CandidateSource());
  const absl::StatusOr<int> reference =
      references_.Get("digest", *ToArtifact(ReferenceSource()), request_.seed, 0);
  ASSERT_TRUE(reference.ok());
  request_.has_reference = 1;
  request_.candidate_count = 2;
  for (int again = 0; again < 2; ++again) {
    const auto reports = runner_->Run(request_, *reference, {good->fd(), bad->fd()});
    ASSERT_TRUE(reports.ok());
    EXPECT_EQ(reports->at(0).outcome, RunOutcome::kOk) << reports->at(0).message;
    EXPECT_EQ(reports->at(0).sample_count, request_.plan.min_chunks);
    EXPECT_GT(reports->at(0).samples_ns[0], 1e-3);
    // What it finds is the page that counts its own runs.
    EXPECT_EQ(reports->at(1).outcome, RunOutcome::kCrash);
    EXPECT_THAT(std::string(reports->at(1).message), HasSubstr("was seen to run"));
  }
  EXPECT_EQ(Contents(*good), Compiled(CandidateSource()));
}

TEST_F(ZygoteTest, ArtifactsAndReferencesCannotBeWrittenByTheirDescriptors) {
  const auto artifact = ToArtifact(CandidateSource());
  const absl::StatusOr<int> reference =
      references_.Get("digest", *ToArtifact(ReferenceSource()), request_.seed, 0);
  ASSERT_TRUE(reference.ok());
  for (const int fd : {artifact->fd(), *reference}) {
    EXPECT_EQ(pwrite(fd, "x", 1, 0), -1);
    EXPECT_NE(ftruncate(fd, 0), 0);
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  }
}

TEST_F(ZygoteTest, ACandidateSharesWhatIsCheckedOfItAndNothingElse) {
  runner_ = LenientZygote();
  request_.rounds = 3;
  // The page of the run counter, and those of its workspace and its output.
  const std::string looking =
      CandidateSource("if (shared_writable_bytes() > 3 * 4096) __builtin_trap()");
  for (const RunReport& report : Run({CandidateSource(), looking, CandidateSource()})) {
    EXPECT_EQ(report.outcome, RunOutcome::kOk) << report.message;
  }
}
#endif

TEST_F(ZygoteTest, InterleavesAFinal) {
  request_.rounds = 7;
  const std::vector<RunReport> reports =
      Run({CandidateSource(), CandidateSource("", "#define SPEND 200"),
           CandidateSource("*(volatile int*)0 = 1")});
  ASSERT_EQ(reports.size(), 3u);
  for (int i : {0, 1}) {
    EXPECT_EQ(reports[i].outcome, RunOutcome::kOk) << reports[i].message;
    EXPECT_EQ(reports[i].sample_count, 7u);
  }
  EXPECT_EQ(reports[2].outcome, RunOutcome::kCrash);
  EXPECT_LT(Median({reports[0].samples_ns, reports[0].samples_ns + 7}),
            Median({reports[1].samples_ns, reports[1].samples_ns + 7}));
}

TEST_F(ZygoteTest, AFinalThatHasNoRoomForAllAtOnceTimesThemInTheSameTurns) {
  request_.rounds = 7;
  request_.together_bytes = 1;
  request_.run_limit_ns = 20'000'000'000;
  const std::vector<RunReport> reports = Run(
      {CandidateSource(), CandidateSource("", "#define SPEND 200"),
       CandidateSource("*(volatile int*)0 = 1"),
       CandidateSource("if (i == 0) ++made; if (made > 2) sum = 1", "static volatile long made;")});
  ASSERT_EQ(reports.size(), 4u);
  for (int i : {0, 1}) {
    EXPECT_EQ(reports[i].outcome, RunOutcome::kOk) << reports[i].message;
    EXPECT_EQ(reports[i].sample_count, 7u);
  }
  EXPECT_EQ(reports[2].outcome, RunOutcome::kCrash);
  EXPECT_EQ(reports[3].outcome, RunOutcome::kWrongOutput) << reports[3].message;
  EXPECT_LT(Median({reports[0].samples_ns, reports[0].samples_ns + 7}),
            Median({reports[1].samples_ns, reports[1].samples_ns + 7}));
}

TEST_F(ZygoteTest, AZygoteThatHangsIsGone) {
  Zygote& hanging = *ImpatientZygote();
  const auto good = ToArtifact(CandidateSource());
  request_.run_limit_ns = 1'000'000;
  request_.candidate_count = 1;
  kill(hanging.pid(), SIGSTOP);
  const auto reports = hanging.Run(request_, -1, {good->fd()});
  EXPECT_TRUE(absl::IsUnavailable(reports.status()));
  EXPECT_THAT(reports.status().ToString(), HasSubstr("hangs"));
}

TEST_F(ZygoteTest, GoesOnAfterEveryKindOfFailure) {
  for (const char* fault : {"*(volatile int*)0 = 1", "__builtin_trap()", "if (i == 2) continue"}) {
    Run({CandidateSource(fault)});
    Expect(CandidateSource(), RunOutcome::kOk, "");
  }
}

TEST_F(ZygoteTest, AReferenceThatFailsSaysWhy) {
  const auto bad = references_.Get("other", *ToArtifact(CandidateSource()), 1, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(bad.status()));
  EXPECT_THAT(bad.status().ToString(), HasSubstr("values and magnitudes"));
}

TEST_F(ZygoteTest, AReferenceKeepsToTheMemoryLimit) {
  const auto reference = ToArtifact(ReferenceSource());
  const auto bad = references_.Get("digest", *reference, 1, 500);
  EXPECT_TRUE(absl::IsInvalidArgument(bad.status()));
  EXPECT_THAT(bad.status().ToString(), HasSubstr("no memory"));
  EXPECT_TRUE(references_.Get("digest", *reference, 1, 1 << 20).ok());
}

}  // namespace
}  // namespace hone::measure
