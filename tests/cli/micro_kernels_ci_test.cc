// Micro-kernels on real processes: measured once for a target, and what defaults are taken from.
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/run_hone.h"
#include "tuning_db/log_io.h"

namespace hone::cli {
namespace {

using nlohmann::json;

class MicroKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteFile(folder_ / "a.relay", Dense(32, 256));
    WriteFile(folder_ / "b.relay", Dense(48, 320));
  }
  static std::string Dense(int rows, int units) {
    return "def @main(%x: Tensor[(" + std::to_string(rows) + ", 64), float32], %w: Tensor[(" +
           std::to_string(units) + ", 64), float32]) { nn.dense(%x, %w) }";
  }
  json Hone(std::vector<std::string> args) { return RunHoneJson(std::move(args), folder_.path()); }
  json Tune(const std::string& model, const std::string& threads, const std::string& when) {
    return Hone({"tune", model, "--db", "hone.db", "--threads", threads, "--trials", "1",
                 "--micro-kernels", when});
  }
  std::map<std::string, int64_t> RecordsByPurpose() {
    std::map<std::string, int64_t> count;
    const json list = Hone({"log", "list", "--db", "hone.db", "--limit", "0"});
    for (const json& record : list["records"]) ++count[record["purpose"].get<std::string>()];
    return count;
  }
  std::set<std::string> Calibrated() {
    std::set<std::string> workloads;
    const json list = Hone({"log", "list", "--db", "hone.db", "--limit", "0"});
    for (const json& record : list["records"]) {
      if (record["purpose"] == "calibrate") workloads.insert(record["workload"].get<std::string>());
    }
    return workloads;
  }

  TestFolder folder_;
};

TEST_F(MicroKernels, AreMeasuredOnceForATargetAndChargedToNobody) {
  const json first = Tune("a.relay", "1", "always");
  const auto trials = first["micro_kernels"]["trials"].get<int64_t>();
  EXPECT_GT(trials, 20);
  EXPECT_GT(first["micro_kernels"]["seconds"].get<double>(), 0);
  ASSERT_EQ(first["tasks"].size(), 1u);
  EXPECT_EQ(first["tasks"][0]["trials"], 1);
  auto records = RecordsByPurpose();
  EXPECT_EQ(records["calibrate"], trials);
  EXPECT_EQ(Calibrated().size(), 2u);  // tiles, a stream
  EXPECT_EQ(records["search"], 1);
  EXPECT_EQ(records["confirm"], 1);

  // The same, another model, another number of threads.
  const std::pair<std::string, std::string> others[] = {
      {"a.relay", "1"}, {"b.relay", "1"}, {"b.relay", "2"}};
  for (const auto& [model, threads] : others) {
    if (std::thread::hardware_concurrency() < std::stoul(threads)) continue;
    EXPECT_EQ(Tune(model, threads, "always")["micro_kernels"]["trials"], 0) << model;
  }
  EXPECT_EQ(RecordsByPurpose()["calibrate"], trials);
  EXPECT_TRUE(Hone({"db", "check", "--db", "hone.db"})["faults"].empty());
}

TEST_F(MicroKernels, AreLeftOutOfJobsWithFewerTrials) {
  EXPECT_EQ(Tune("a.relay", "1", "auto")["micro_kernels"]["trials"], 0);
  EXPECT_EQ(Tune("a.relay", "1", "never")["micro_kernels"]["trials"], 0);
  EXPECT_EQ(RecordsByPurpose()["calibrate"], 0);
}

TEST_F(MicroKernels, AJobThatIsLargeEnoughForWhatIsMissingMeasuresThat) {
  const auto all = Tune("a.relay", "1", "always")["micro_kernels"]["trials"].get<int64_t>();
  std::stringstream log;
  int64_t tiles = 0;
  {
    using tuning_db::OpenMode;
    const auto from = tuning_db::OpenSqliteStore(folder_ / "hone.db", OpenMode::kReadOnly).value();
    const auto to = tuning_db::OpenSqliteStore(folder_ / "tiles.db", OpenMode::kCreate).value();
    const tuning_db::RecordFilter of_tiles = {.purpose = tuning_db::Purpose::kCalibrate,
                                              .workload_substring = "(168, 64)"};
    tiles = tuning_db::ExportLog(*from, of_tiles, log).value().records;
    ASSERT_EQ(tuning_db::ImportLog(*to, log).value().records, tiles);
  }
  const auto measured = [&](int64_t trials) {
    const json tuned = Hone({"tune", "a.relay", "--db", "tiles.db", "--threads", "1", "--trials",
                             std::to_string(trials)});
    return tuned["micro_kernels"]["trials"].get<int64_t>();
  };
  ASSERT_LT(tiles, all);
  EXPECT_EQ(measured(all - tiles - 1), 0);
  EXPECT_EQ(measured(all - tiles), all - tiles);
  EXPECT_EQ(measured(all - tiles), 0);
}

TEST_F(MicroKernels, CompilesAndFinalsTakeTheSameDefaults) {
  Tune("a.relay", "1", "always");
  const json explained = Hone({"explain", "b.relay", "--db", "hone.db", "--threads", "1"});
  ASSERT_EQ(explained["kernels"].size(), 1u);
  EXPECT_EQ(explained["kernels"][0]["tier"], "default");
  Tune("b.relay", "1", "never");  // one trial: the default's
  int found = 0;
  const json best = Hone({"log", "best", "--db", "hone.db"});
  for (const json& task : best["best"]) {
    if (task["workload"] != explained["kernels"][0]["workload"]) continue;
    ++found;
    EXPECT_EQ(json::parse(task["config"].get<std::string>()),
              json::parse(explained["kernels"][0]["config"].get<std::string>()));
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace hone::cli
