// --numerics: how the kernels of a model may round.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// A convolution that Winograd's algorithm is for; `attrs` are those of main.
std::string Convolution(const std::string& attrs) {
  return "def @main(%x: Tensor[(1, 32, 16, 16), float32], %w: Tensor[(32, 32, 3, 3), float32]" +
         attrs + ") { nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])) }";
}

class Numerics : public ::testing::Test {
 protected:
  // The kernels of main with these attributes, with more flags.
  nlohmann::json Kernels(const std::string& attrs, const std::vector<std::string>& flags) {
    WriteFile(folder_ / "m.relay", Convolution(attrs));
    std::vector<std::string> args = {"explain", "m.relay", "--target",
                                     "llvm -mcpu=x86-64-v3 -threads=1"};
    args.insert(args.end(), flags.begin(), flags.end());
    const auto kernels = RunHoneJson(args, folder_.path())["kernels"];
    EXPECT_GE(kernels.size(), 1u);
    return kernels;
  }
  void ExpectAll(const nlohmann::json& kernels, const std::string& numerics) {
    for (const auto& kernel : kernels) {
      const std::string workload = kernel["workload"];
      if (workload.find("layout_transform") != std::string::npos) continue;  // rounds nothing
      EXPECT_THAT(workload, EndsWith(" numerics=" + numerics));
    }
  }

  TestFolder folder_;
};

TEST_F(Numerics, OfTheFlagHoldForEveryKernelThatRounds) {
  ExpectAll(Kernels("", {"--numerics", "strict"}), "strict");
  ExpectAll(Kernels("", {"--numerics", "fast"}), "fast");
  ExpectAll(Kernels("", {"--numerics", "default"}), "default");
}

TEST_F(Numerics, AreWhatIsTuned) {
  WriteFile(folder_ / "m.relay", Convolution(""));
  const auto plan =
      RunHoneJson({"tune", "m.relay", "--plan", "--numerics", "strict"}, folder_.path());
  ExpectAll(plan["tasks"], "strict");
}

TEST_F(Numerics, OfTheModelHoldUntilTheFlagSaysOtherwise) {
  const std::string strict = ", numerics=\"strict\"";
  ExpectAll(Kernels(strict, {}), "strict");
  ExpectAll(Kernels(strict, {"--numerics", "default"}), "default");
}

TEST_F(Numerics, OfTheFlagAreThoseOfFunctionsThatAreCalled) {
  WriteFile(folder_ / "called.relay",
            "def @f(%x: Tensor[(4, 4), float32], numerics=\"strict\") { nn.dense(%x, %x) }\n"
            "def @main(%x: Tensor[(4, 4), float32]) { @f(%x) }");
  const auto kernels = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> args = {"explain", "called.relay"};
    args.insert(args.end(), flags.begin(), flags.end());
    return RunHoneJson(args, folder_.path())["kernels"];
  };
  ExpectAll(kernels({}), "strict");
  ExpectAll(kernels({"--numerics", "fast"}), "fast");
}

TEST_F(Numerics, AreOneOfThreeAndNotOfAModuleThatIsCompiled) {
  WriteFile(folder_ / "m.relay", Convolution(""));
  const Finished unknown = RunHone({"explain", "m.relay", "--numerics", "loose"}, folder_.path());
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("expected strict, default or fast, found 'loose'"));
  const Finished compiled = RunHone({"bench", "m.so", "--numerics", "strict"}, folder_.path());
  EXPECT_EQ(compiled.exit_code, 2);
  EXPECT_THAT(compiled.err, HasSubstr("found m.so, which is compiled already"));
}

}  // namespace
}  // namespace hone::cli
