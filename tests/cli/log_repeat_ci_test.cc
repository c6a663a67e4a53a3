// `hone log show --rebuild --rerun`: what was measured, built and measured again.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;

class LogRepeat : public testing::Test {
 protected:
  LogRepeat() {
    EXPECT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
    const Finished tuned = RunHone({"tune", "mlp.onnx", "--db", "h.db", "--trials", "2",
                                    "--threads", "1", "--micro-kernels", "never", "--full-budget"},
                                   folder_.path());
    EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  }

  // Adds the first record once more, as another round, changed: its id.
  template <typename Change>
  int64_t Add(const Change& change) {
    const auto store =
        tuning_db::OpenSqliteStore(folder_ / "h.db", tuning_db::OpenMode::kReadWrite).value();
    tuning_db::RecordDetail first = store->GetRecord(1).value();
    tuning_db::Trial& trial = first.record.of_trial;
    trial.round = ++rounds_;
    trial.job = 0;
    change(first);
    trial.task = store->EnsureTask(first.task).value();
    EXPECT_EQ(store->Import(trial, first.record).value(), tuning_db::SettleResult::kSettled);
    return store->Records({}).value().back().id;
  }
  Finished Show(int64_t record, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"log", "show", std::to_string(record), "--db", "h.db"});
    return RunHone(flags, folder_.path());
  }

  TestFolder folder_;
  int64_t rounds_ = 0;
};

TEST_F(LogRepeat, TheSameMachineBuildsTheSameArtifactAndMeasuresIt) {
  const Finished shown = Show(1, {"--rebuild", "--rerun", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const nlohmann::json record = nlohmann::json::parse(shown.out)["record"];
  EXPECT_EQ(record["rebuilt"]["same"], true);
  EXPECT_EQ(record["rebuilt"]["artifact_digest"], record["artifact_digest"]);
  EXPECT_EQ(record["rerun"]["outcome"], "ok") << record["rerun"]["message"];
  EXPECT_GT(record["rerun"]["median_us"], 0);
  EXPECT_GT(record["rerun"]["calibrator_us"], 0);
  EXPECT_LE(record["rerun"]["error_ratio"], 1);
  EXPECT_EQ(record["rerun"]["same_device"], true);
  EXPECT_EQ(record["rerun"]["regime"], record["regime"]);
  const Finished text = Show(1, {"--rebuild", "--rerun"});
  EXPECT_THAT(text.out, HasSubstr("the same artifact"));
  EXPECT_THAT(text.out, HasSubstr("measured again  ok"));
}

TEST_F(LogRepeat, ARecordOfAnotherToolchainIsToldApart) {
  const std::string digest(64, 'a');
  const int64_t other = Add([&](tuning_db::RecordDetail& detail) {
    detail.record.artifact_digest = digest;
    detail.record.toolchain = "LLVM 0";
  });
  const Finished shown = Show(other, {"--rebuild"});
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.err, HasSubstr(digest));
  EXPECT_THAT(shown.err, HasSubstr("the toolchain here is another"));
  EXPECT_THAT(shown.out, HasSubstr("another artifact"));
}

TEST_F(LogRepeat, WhatCannotBeRepeatedIsSaidInASentence) {
  const int64_t elsewhere = Add([](tuning_db::RecordDetail& detail) {
    detail.task.target =
        "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -mattr=+neon "
        "-caches=65536,1048576,33554432 -threads=1";
  });
  EXPECT_EQ(Show(elsewhere, {"--rerun"}).exit_code, 7);
  const int64_t strange = Add([](tuning_db::RecordDetail& detail) {
    detail.record.of_trial.config = R"({"strategy":"none"})";
    detail.record.of_trial.config_digest = std::string(64, 'b');
  });
  const Finished rebuilt = Show(strange, {"--rebuild"});
  EXPECT_EQ(rebuilt.exit_code, 1);
  EXPECT_THAT(rebuilt.err, HasSubstr("builds, found"));
  EXPECT_EQ(Show(strange, {"--rerun"}).exit_code, 1);
}

}  // namespace
}  // namespace hone::cli
