// Each hostile kernel ends as a failure of its own kind, and the next candidate is measured as
// ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/measure_server/hostile_kernels.h"
#include "tests/measure_server/sample_artifacts.h"
#include "tests/measure_server/zygote_fixture.h"

namespace hone::measure {

void PrintTo(const HostileKernel& hostile, std::ostream* stream) { *stream << hostile.name; }

namespace {

class HostileKernelTest : public ZygoteTest, public testing::WithParamInterface<HostileKernel> {};

TEST_P(HostileKernelTest, EndsAsAFailureOfItsOwnKind) {
  request_.memory_limit_bytes = 256 << 20;
  request_.run_limit_ns =
      GetParam().outcome == RunOutcome::kRunTimeout ? 300'000'000 : 20'000'000'000;
  Expect(GetParam().source, GetParam().outcome, GetParam().message, GetParam().flags);
  request_.run_limit_ns = 20'000'000'000;
  Expect(CandidateSource(), RunOutcome::kOk, "");
}

INSTANTIATE_TEST_SUITE_P(All, HostileKernelTest, testing::ValuesIn(HostileKernels()),
                         [](const auto& row) { return row.param.name; });

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
using HostileTest = ZygoteTest;

TEST_F(HostileTest, ATebibyteThatItAsksForItselfIsNotThere) {
  request_.memory_limit_bytes = 64 << 20;
  Expect(CandidateSource("*(volatile char*)call6(9, 0, 1l << 40, 3, 0x4022, -1, 0) = 1"),
         RunOutcome::kCrash, "SIGSEGV");
}
#endif

}  // namespace
}  // namespace hone::measure
