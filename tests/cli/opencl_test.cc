// Models for devices of OpenCL on the command line.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/find_device.h"
#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTarget[] = "opencl -device=any";

class OpenCl : public ::testing::Test {
 protected:
  OpenCl() {
    WriteFile(folder_ / "m.relay",
              "def @main(%x: Tensor[(4, 8), float32]) { nn.softmax(nn.relu(%x)) }");
  }
  Finished Hone(std::vector<std::string> args) { return RunHone(args, folder_.path()); }

  TestFolder folder_;
};

TEST_F(OpenCl, ModelsAreCompiledWithoutADeviceAndWithoutAWordOfTuning) {
  const Finished compiled = Hone({"compile", "m.relay", "-o", "m.so", "--target", kTarget});
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_THAT(compiled.out, Not(HasSubstr("hone tune")));
  EXPECT_THAT(folder_.Snapshot(), Not(HasSubstr("hone.db"))) << "misses of what nothing tunes";
}

TEST_F(OpenCl, ModulesRunOnTheFirstDevice) {
  std::string error;
  if (!FindDevice("opencl:0", "", 1, &error)) GTEST_SKIP() << error;
  ASSERT_EQ(Hone({"compile", "m.relay", "-o", "m.so", "--target", kTarget}).exit_code, 0);
  const Finished timed = Hone({"bench", "m.so", "--profile", "--json"});
  ASSERT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_GT(nlohmann::json::parse(timed.out)["median_us"], 0);
}

TEST_F(OpenCl, WhatIsForCpusIsRefusedWithExitCode2) {
  const std::vector<std::vector<std::string>> refused = {
      {"compile", "m.relay", "-o", "m.so", "--target", kTarget, "--threads", "2"},
      {"compile", "m.relay", "-o", "m.so", "--target", kTarget, "--require-tuned"},
      {"compile", "m.relay", "-o", "m.so", "--target", "cuda -arch=sm_90"},
      {"explain", "m.relay", "--target", kTarget},
      {"tune", "m.relay", "--target", kTarget, "--plan"}};
  for (const std::vector<std::string>& args : refused) {
    const Finished finished = Hone(args);
    EXPECT_EQ(finished.exit_code, 2) << args[0] << " " << args.back();
    EXPECT_THAT(finished.err, HasSubstr("a target of kind llvm")) << args.back();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "m.so")) << args.back();
  }
}

}  // namespace
}  // namespace hone::cli
