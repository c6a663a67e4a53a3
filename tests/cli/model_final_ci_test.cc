// Finals of models on real processes: what a tune says of a whole model, and what compile makes of
// it.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/run_hone.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using nlohmann::json;

class ModelFinalTest : public ::testing::Test {
 protected:
  ModelFinalTest() {
    EXPECT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
  }
  json Tune() {
    return RunHoneJson({"tune", "mlp.onnx", "--db", "hone.db", "--threads", "1", "--trials", "8"},
                       folder_.path());
  }
  json Compile() {
    return RunHoneJson({"compile", "mlp.onnx", "-o", "m.so", "--db", "hone.db", "--threads", "1"},
                       folder_.path());
  }
  std::unique_ptr<tuning_db::Store> Open(tuning_db::OpenMode mode) {
    return tuning_db::OpenSqliteStore(folder_ / "hone.db", mode).value();
  }
  static json KernelOf(const json& report, const std::string& digest) {
    for (const json& kernel : report["kernels"]) {
      if (kernel["workload_digest"] == digest) return kernel;
    }
    ADD_FAILURE() << "no kernel " << digest;
    return json();
  }

  TestFolder folder_;
};

TEST_F(ModelFinalTest, ATuneSaysWhatTheWholeModelGainsAndTimesItOnce) {
  const json first = Tune();
  ASSERT_EQ(first["models"].size(), 1u);
  const json& model = first["models"][0];
  EXPECT_EQ(model["name"], "mlp.onnx");
  EXPECT_FALSE(model["kernels"].empty());
  EXPECT_LE(model["ratio_low"].get<double>(), model["ratio"].get<double>());
  EXPECT_LE(model["ratio"].get<double>(), model["ratio_high"].get<double>());
  EXPECT_GE(model["ratio"].get<double>(), 1) << "what is not faster is not kept";
  EXPECT_EQ(model["gain"].get<bool>(), model["ratio"].get<double>() > 1);
  // Nothing has changed, and nothing is timed again.
  EXPECT_EQ(Tune()["models"], first["models"]);
  const auto final =
      Open(tuning_db::OpenMode::kReadOnly)->NewestModelFinal(model["skeleton"], first["target"]);
  ASSERT_TRUE(final.ok() && *final) << final.status();
  EXPECT_EQ((*final)->id, 1);
}

TEST_F(ModelFinalTest, CompileTakesWhatWasKept) {
  const json tuned = Tune();
  const std::string skeleton = tuned["models"][0]["skeleton"];
  const std::string target = tuned["target"];
  const json before = Compile();
  {
    const auto store = Open(tuning_db::OpenMode::kReadWrite);
    tuning_db::ModelFinal final = *store->NewestModelFinal(skeleton, target).value();
    // As if another config had been kept of the first kernel: one that its search measured.
    tuning_db::ModelFinalKernel& kernel = final.kernels.at(0);
    const auto task = store->FindTask(kernel.workload_digest, target).value();
    ASSERT_TRUE(task.has_value());
    const std::vector<tuning_db::Record> records =
        store->Records({.task = task->id, .signature = kernel.signature}).value();
    for (const tuning_db::Record& record : records) {
      if (record.of_trial.config == kernel.winner) continue;
      kernel.kept = record.of_trial.config;
      kernel.kept_nest_digest = record.of_trial.nest_digest;
    }
    ASSERT_NE(kernel.kept, kernel.winner);
    store->AddModelFinal(final).value();
    const json kept = KernelOf(Compile(), kernel.workload_digest);
    EXPECT_EQ(kept["config"], kernel.kept);
    EXPECT_EQ(kept["tier"], KernelOf(before, kernel.workload_digest)["tier"]);
    // A verdict on another winner says nothing of this one.
    const std::string winner = kernel.winner;
    kernel.winner = R"({"of":"another day"})";
    store->AddModelFinal(final).value();
    EXPECT_EQ(KernelOf(Compile(), kernel.workload_digest)["config"], winner);
  }
}

}  // namespace
}  // namespace hone::cli
