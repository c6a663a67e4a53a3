// Models for devices of OpenCL on the command line.
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/find_device.h"
#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

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

TEST_F(OpenCl, ModelsAreCompiledAndExplainedWithoutADevice) {
  const Finished compiled = Hone({"compile", "m.relay", "-o", "m.so", "--target", kTarget});
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
  const Finished explained = Hone({"explain", "m.relay", "--target", kTarget});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("template   grid"));
  const Finished shown =
      Hone({"show", "m.relay", "--after", "FuseOps", "--format", "tree", "--target", kTarget});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  const Finished tuned =
      Hone({"compile", "m.relay", "-o", "t.so", "--target", kTarget, "--require-tuned"});
  EXPECT_EQ(tuned.exit_code, 4) << tuned.err;
}

TEST_F(OpenCl, ModulesRunOnTheFirstDevice) {
  std::string error;
  if (!FindDevice("opencl:0", "", 1, &error)) GTEST_SKIP() << error;
  ASSERT_EQ(Hone({"compile", "m.relay", "-o", "m.so", "--target", kTarget}).exit_code, 0);
  const Finished timed = Hone({"bench", "m.so", "--profile", "--json"});
  ASSERT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_GT(nlohmann::json::parse(timed.out)["median_us"], 0);
}

// The space of a small kernel has few configs: each is measured once, and one is chosen.
TEST_F(OpenCl, ModelsAreTunedOnTheDeviceOfThisMachine) {
  const std::vector<ListedDevice> listed = ListDevices();
  if (listed.empty()) GTEST_SKIP() << "this machine has no device of OpenCL";
  const std::string& target = listed[0].target;
  const Finished tuned =
      Hone({"tune", "m.relay", "--db", "d.db", "--trials", "16", "--target", target, "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const nlohmann::json document = nlohmann::json::parse(tuned.out);
  ASSERT_FALSE(document["tasks"].empty());
  for (const nlohmann::json& task : document["tasks"]) {
    EXPECT_EQ(task["ended"], "space used up") << task;
    EXPECT_EQ(task["failures"], 0) << task;
    EXPECT_GT(task["best_us"], 0) << task;
  }
  const Finished compiled = Hone(
      {"compile", "m.relay", "-o", "m.so", "--db", "d.db", "--target", target, "--require-tuned"});
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
}

TEST_F(OpenCl, TuningHereForADeviceThatIsNotHereIsRefused) {
  const std::string target = "opencl -device=no-such-device";
  const Finished refused = Hone({"tune", "m.relay", "--db", "d.db", "--target", target});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("a device of this machine measures for, found " + target));
  EXPECT_THAT(refused.err, HasSubstr("--server"));
}

TEST_F(OpenCl, WhatIsForCpusIsRefusedWithExitCode2) {
  const std::vector<std::vector<std::string>> refused = {
      {"compile", "m.relay", "-o", "m.so", "--target", kTarget, "--threads", "2"},
      {"tune", "m.relay", "--target", kTarget, "--threads", "2"}};
  for (const std::vector<std::string>& args : refused) {
    const Finished finished = Hone(args);
    EXPECT_EQ(finished.exit_code, 2) << args[0] << " " << args.back();
    EXPECT_THAT(finished.err, HasSubstr("a target of kind llvm")) << args.back();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "m.so")) << args.back();
  }
}

}  // namespace
}  // namespace hone::cli
