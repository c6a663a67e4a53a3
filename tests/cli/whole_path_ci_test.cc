// The whole path on real processes: zoo, tune, compile, run, bench, log; what a user relies on.
#include <cstdlib>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using nlohmann::json;

constexpr char kTrials[] = "4";

class WholePath : public ::testing::Test {
 protected:
  json Hone(std::vector<std::string> args) { return RunHoneJson(std::move(args), folder_.path()); }
  void Export(const std::string& model) {
    ASSERT_EQ(RunHone({"zoo", model, "-o", model + ".onnx"}, folder_.path()).exit_code, 0);
  }
  json Tune(const std::string& model) {
    return Hone({"tune", model + ".onnx", "--db", "hone.db", "--threads", "1", "--trials", kTrials,
                 "--full-budget"});
  }
  static int64_t TrialsOf(const json& tuned) {
    int64_t trials = 0;
    for (const json& task : tuned["tasks"]) trials += task["trials"].get<int64_t>();
    return trials;
  }

  TestFolder folder_;
};

TEST_F(WholePath, TuneSpendsTheBudgetExactlyOnceAndTunedIsNeverSlower) {
  Export("mlp");
  const json first = Tune("mlp");
  ASSERT_FALSE(first["tasks"].empty());
  for (const json& task : first["tasks"]) {
    EXPECT_EQ(task["trials"], 4) << task;
    EXPECT_EQ(task["failures"], 0) << task;
    EXPECT_EQ(task["ended"], "budget") << task;
    EXPECT_LE(task["best_us"].get<double>(), task["default_us"].get<double>()) << task;
  }
  EXPECT_EQ(TrialsOf(Tune("mlp")), 0);  // nothing is charged twice
  EXPECT_GT(first["phase_seconds"]["timing"].get<double>(), 0);

  const json list = Hone({"log", "list", "--db", "hone.db", "--limit", "0"});
  int64_t searches = 0;
  for (const json& record : list["records"]) searches += record["purpose"] == "search" ? 1 : 0;
  EXPECT_EQ(searches, TrialsOf(first));
  EXPECT_EQ(Hone({"log", "best", "--db", "hone.db"})["best"].size(), first["tasks"].size());
  EXPECT_TRUE(Hone({"db", "check", "--db", "hone.db"})["faults"].empty());
}

// Its worker measures code of any CPU that this machine is one of.
TEST_F(WholePath, TunesForALesserCpuThanThisOne) {
  Export("mlp");
  const json tuned =
      Hone({"tune", "mlp.onnx", "--db", "hone.db", "--target", "llvm", "--trials", "1"});
  EXPECT_THAT(tuned["target"].get<std::string>(), ::testing::HasSubstr(" -threads=1"));
  for (const json& task : tuned["tasks"]) EXPECT_EQ(task["trials"], 1) << task;
}

TEST_F(WholePath, DatabaseOfANewerVersionIsRefusedAndUntouched) {
  Export("mlp");
  Tune("mlp");
  std::string bytes = ReadFile(folder_ / "hone.db");
  const size_t user_version_at = 60;  // in SQLite's file header, big-endian
  bytes.replace(user_version_at, 4, std::string("\x00\x00\x7f\xff", 4));
  WriteFile(folder_ / "newer.db", bytes);
  const std::string before = folder_.Snapshot();
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"compile", "mlp.onnx", "-o", "m.so", "--db", "newer.db"},
        std::vector<std::string>{"log", "list", "--db", "newer.db"}}) {
    const Finished finished = RunHone(args, folder_.path());
    EXPECT_EQ(finished.exit_code, 7) << finished.err;
    EXPECT_THAT(finished.err, ::testing::HasSubstr("newer.db"));
    EXPECT_EQ(folder_.Snapshot(), before);
  }
  EXPECT_EQ(RunHone({"tune", "mlp.onnx", "--db", "newer.db"}, folder_.path()).exit_code, 7);
  EXPECT_EQ(ReadFile(folder_ / "newer.db"), bytes);
}

TEST_F(WholePath, ModelsShareTheTrialsOfTheirCommonKernels) {
  Export("mlp");
  EXPECT_GT(TrialsOf(Tune("mlp")), 0);
  // Another file, the same kernels.
  WriteFile(folder_ / "twin.onnx", ReadFile(folder_ / "mlp.onnx"));
  EXPECT_EQ(TrialsOf(Tune("twin")), 0);
}

TEST_F(WholePath, PlanSpendsNothingAndMakesNoDatabase) {
  Export("mlp");
  const std::string before = folder_.Snapshot();
  const json plan = Hone({"tune", "mlp.onnx", "--plan", "--threads", "1"});
  EXPECT_FALSE(plan["tasks"].empty());
  EXPECT_EQ(folder_.Snapshot(), before);
}

TEST_F(WholePath, CompiledModuleRunsTunedAndUntunedToTheSameNumbers) {
  Export("mlp");
  Tune("mlp");
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28), }";
  header.resize(117, ' ');
  header += '\n';
  std::string npy = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(118) + '\0' + header;
  for (int i = 0; i < 784; ++i) {
    const float value = static_cast<float>(i % 17) * 0.05f;
    npy.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  WriteFile(folder_ / "x.npy", npy);
  for (const std::string threads : {"1", "2"}) {
    ASSERT_EQ(RunHone({"run", "mlp.onnx", "--input", "data=x.npy", "--output-dir", "a" + threads,
                       "--threads", threads},
                      folder_.path())
                  .exit_code,
              0);
    ASSERT_EQ(RunHone({"compile", "mlp.onnx", "-o", "m.so", "--db", "hone.db", "--threads", "1"},
                      folder_.path())
                  .exit_code,
              0);
    ASSERT_EQ(RunHone({"run", "m.so", "--input", "data=x.npy", "--output-dir", "b" + threads,
                       "--threads", threads},
                      folder_.path())
                  .exit_code,
              0);
  }
  const std::string a = ReadFile(folder_ / "a1/output.npy");
  ASSERT_GT(a.size(), 128u);
  for (const char* other : {"a2/output.npy", "b1/output.npy", "b2/output.npy"}) {
    const std::string b = ReadFile(folder_ / other);
    ASSERT_EQ(a.size(), b.size());
    for (size_t at = 128; at < a.size(); at += sizeof(float)) {
      float x = 0;
      float y = 0;
      std::memcpy(&x, &a[at], sizeof(x));
      std::memcpy(&y, &b[at], sizeof(y));
      EXPECT_NEAR(x, y, 1e-5 + 1e-3 * std::abs(x));
    }
  }
}

// References of the output check round, divide and look up; candidates multiply bytes.
TEST_F(WholePath, QuantisedAndHalfPrecisionKernelsTuneWithoutFailures) {
  WriteFile(folder_ / "kinds.relay", R"(def @main(%x: Tensor[(1, 32, 8, 8), uint8],
                                                  %w: Tensor[(32, 32, 3, 3), int8],
                                                  %h: Tensor[(8, 32), float16],
                                                  %v: Tensor[(16, 32), float16]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = qnn.requantize(%0, 0.0021f32, 3u8);
  %2 = nn.softmax(nn.dense(%h, %v));
  (%1, qnn.dequantize(%1, 0.5f32, 3u8), %2)
})");
  const json tuned =
      Hone({"tune", "kinds.relay", "--db", "hone.db", "--threads", "1", "--trials", kTrials});
  ASSERT_GE(tuned["tasks"].size(), 3u);
  for (const json& task : tuned["tasks"]) {
    EXPECT_EQ(task["failures"], 0) << task;
    EXPECT_GT(task["best_us"].get<double>(), 0) << task;
  }
}

TEST_F(WholePath, CompileSaysWhereEachConfigCameFrom) {
  Export("mlp");
  const json untuned = Hone({"compile", "mlp.onnx", "-o", "m.so", "--threads", "1"});
  EXPECT_EQ(untuned["counts"]["default"], untuned["kernels"].size());
  Tune("mlp");
  const json measured =
      Hone({"compile", "mlp.onnx", "-o", "m.so", "--db", "hone.db", "--threads", "1"});
  EXPECT_FALSE(measured["counts"].contains("default")) << measured["counts"];
}

// Layouts and the copies between them are tuned until none is new; what compiles then is tuned.
TEST_F(WholePath, TunedConvolutionsCompileTunedInTheLayoutsThatWereMeasured) {
  WriteFile(folder_ / "net.relay", R"(
def @main(%x: Tensor[(1, 16, 12, 12), float32], %w0: Tensor[(16, 16, 3, 3), float32],
          %w1: Tensor[(16, 16, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w0, padding=[1, 1, 1, 1]));
  %1 = nn.relu(add(nn.conv2d(%0, %w1, padding=[1, 1, 1, 1]), %0));
  nn.max_pool2d(%1, pool_size=[2, 2], strides=[2, 2])
})");
  const std::vector<std::string> tune = {"tune",      "net.relay", "--db",     "hone.db",
                                         "--threads", "1",         "--trials", "64"};
  const json first = Hone(tune);
  EXPECT_GT(TrialsOf(first), 0);
  EXPECT_LT(TrialsOf(first), 64 * static_cast<int64_t>(first["tasks"].size()));
  for (const json& task : first["tasks"]) {
    EXPECT_THAT(task["ended"].get<std::string>(),
                ::testing::AnyOf("budget", "nothing to win", "space used up"));
  }
  const json compiled = Hone({"compile", "net.relay", "-o", "net.so", "--db", "hone.db",
                              "--threads", "1", "--require-tuned"});
  EXPECT_EQ(compiled["counts"]["tuned"], compiled["kernels"].size());
  EXPECT_EQ(TrialsOf(Hone(tune)), 0);
  const json explained =
      Hone({"explain", "net.relay", "--db", "hone.db", "--threads", "1"})["kernels"];
  ASSERT_EQ(explained.size(), compiled["kernels"].size());
  for (size_t k = 0; k < explained.size(); ++k) {
    EXPECT_EQ(explained[k]["workload"], compiled["kernels"][k]["workload"]);
    EXPECT_EQ(explained[k]["tier"], "tuned");
  }
}

TEST_F(WholePath, TunedSpecialisationsCompileTuned) {
  const std::string model = std::string(HONE_TEST_DATA) + "/onnx/symbolic.onnx";
  const std::vector<std::string> shapes = {"--shape", "x=1,3",    "--shape",    "x=4,3",
                                           "--shape", "bias=1,4", "--numerics", "strict",
                                           "--db",    "hone.db",  "--threads",  "1"};
  std::vector<std::string> tune = {"tune", model, "--trials", "64"};
  tune.insert(tune.end(), shapes.begin(), shapes.end());
  const json first = Hone(tune);
  EXPECT_EQ(first["tasks"].size(), 2u);
  EXPECT_GT(TrialsOf(first), 0);
  std::vector<std::string> compile = {"compile", model, "-o", "m.so", "--require-tuned"};
  compile.insert(compile.end(), shapes.begin(), shapes.end());
  const json compiled = Hone(compile);
  EXPECT_EQ(compiled["specialisations"].size(), 2u);
  EXPECT_EQ(compiled["counts"]["tuned"], compiled["kernels"].size());
  EXPECT_EQ(TrialsOf(Hone(tune)), 0);
}

// As some supervisors start their children: ended ones could not be waited for.
TEST_F(WholePath, TunesWhereSignalsOfChildrenAreIgnored) {
  Export("mlp");
  const std::string command = fmt::format(
      "trap '' CHLD; cd {} && exec {}/hone tune mlp.onnx --db hone.db --trials 2 --threads 1 "
      ">/dev/null 2>&1",
      folder_.path().string(), HONE_BIN_DIR);
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(WholePath, BenchPrintsEveryKernel) {
  Export("mlp");
  const json compiled = Hone({"compile", "mlp.onnx", "-o", "m.so", "--threads", "1"});
  const json bench = Hone({"bench", "m.so", "--threads", "1", "--profile"});
  EXPECT_GT(bench["median_us"].get<double>(), 0);
  EXPECT_EQ(bench["threads"], 1);
  EXPECT_GE(bench["kernels"].size(), compiled["kernels"].size());
}

}  // namespace
}  // namespace hone::cli
