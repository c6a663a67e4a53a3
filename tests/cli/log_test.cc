// `hone log` on a small database: what it prints in each format, what each flag means.
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/clock.h"
#include "tests/cli/run_hone.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A database with two tasks: a relu with six records (one a crash, one of a confirm trial) and a
// final, and a convolution with one record, of another target and device, a day later.
class LogTest : public testing::Test {
 protected:
  LogTest() {
    const auto store =
        tuning_db::OpenSqliteStore(folder_ / "h.db", tuning_db::OpenMode::kCreate).value();
    tuning_db::Task relu = tuning_db::ExampleTask(7);
    relu.id = store->EnsureTask(relu).value();
    const int64_t job = store->SubmitJob(tuning_db::ExampleJob(relu.id)).value().id;
    for (int n = 0; n < 5; ++n) {
      Settle(*store, tuning_db::ExampleTrial(relu.id, n == 0 ? job : 0, n), [&](auto& record) {
        if (n == 3) record.outcome = tuning_db::Outcome::kCrash;
        if (n == 3) record.message = "signal 11, \"at once\"";
        if (n == 3) record.median_ns = 0;
      });
    }
    tuning_db::Trial confirm = tuning_db::ExampleTrial(relu.id, job, 9);
    confirm.purpose = tuning_db::Purpose::kConfirm;
    Settle(*store, confirm, [](auto&) {});
    tuning_db::Final final = tuning_db::ExampleFinal(relu.id, job);
    final.record = 6;
    store->AddFinal(final).value();
    tuning_db::Task conv = tuning_db::ExampleTask(8, "llvm -mcpu=znver5 -threads=1");
    conv.workload = "fn (p0: Tensor[(1, 64, 56, 56), float32]) { nn.conv2d(p0) }";
    conv.workload_digest = Sha256Hex(conv.workload);
    conv.id = store->EnsureTask(conv).value();
    Settle(*store, tuning_db::ExampleTrial(conv.id, 0), [](auto& record) {
      record.device = "another cpu";
      record.wall_time_ns += kDayNs;
    });
    EXPECT_TRUE(store->Retract(2, "a neighbour was loud").ok());
  }

  template <typename Change>
  static void Settle(tuning_db::Store& store, const tuning_db::Trial& wanted,
                     const Change& change) {
    const tuning_db::Trial trial = store.Propose({wanted}).value().at(0);
    tuning_db::Record record = tuning_db::ExampleRecord(trial.id);
    change(record);
    store.Settle(store.Lease(trial.id, "w").value().fence, record).value();
  }

  Finished Log(std::vector<std::string> args) {
    args.insert(args.begin(), "log");
    args.insert(args.end(), {"--db", "h.db"});
    return RunHone(args, folder_.path());
  }
  nlohmann::json LogJson(std::vector<std::string> args) {
    args.push_back("--json");
    const Finished finished = Log(args);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  std::vector<int64_t> Ids(std::vector<std::string> args) {
    args.insert(args.begin(), "list");
    std::vector<int64_t> ids;
    const nlohmann::json list = LogJson(args);
    for (const nlohmann::json& record : list["records"]) ids.push_back(record["id"]);
    return ids;
  }
  static std::vector<std::string> Lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  TestFolder folder_;
};

TEST_F(LogTest, ListsWhatEachFlagMeans) {
  EXPECT_THAT(Ids({}), ElementsAre(7, 6, 5, 4, 3, 1));
  EXPECT_THAT(Ids({"--oldest-first"}), ElementsAre(1, 3, 4, 5, 6, 7));
  EXPECT_THAT(Ids({"--op", "nn.conv2d"}), ElementsAre(7));
  EXPECT_THAT(Ids({"--shape", "1x64x56x56"}), ElementsAre(7));
  EXPECT_THAT(Ids({"--shape", "64x56"}), IsEmpty());
  EXPECT_THAT(Ids({"--workload", "relu"}), ElementsAre(6, 5, 4, 3, 1));
  EXPECT_THAT(Ids({"--target", "znver5"}), ElementsAre(7));
  EXPECT_THAT(Ids({"--device", "another"}), ElementsAre(7));
  EXPECT_THAT(Ids({"--device", "cpu"}), ElementsAre(6, 5, 4, 3, 1));
  EXPECT_THAT(Ids({"--job", "1"}), ElementsAre(6, 1));
  EXPECT_THAT(Ids({"--purpose", "confirm"}), ElementsAre(6));
  EXPECT_THAT(Ids({"--outcome", "failed"}), ElementsAre(4));
  EXPECT_THAT(Ids({"--outcome", "ok", "--job", "1"}), ElementsAre(6, 1));
  EXPECT_THAT(Ids({"--since", "2023-11-15"}), ElementsAre(7));
  EXPECT_THAT(Ids({"--before", "2023-11-15"}), ElementsAre(6, 5, 4, 3, 1));
  EXPECT_THAT(Ids({"--since", "1h"}), IsEmpty());
  EXPECT_THAT(Ids({"--retracted"}), ElementsAre(7, 6, 5, 4, 3, 2, 1));
}

TEST_F(LogTest, ListsInPages) {
  const nlohmann::json first = LogJson({"list", "--limit", "4"});
  EXPECT_EQ(first["records"].size(), 4u);
  const auto next = first["next"].get<std::string>();
  ASSERT_FALSE(next.empty());
  const nlohmann::json second = LogJson({"list", "--limit", "4", "--after", next});
  EXPECT_EQ(second["records"].size(), 2u);
  EXPECT_EQ(second["records"][0]["id"], 3);
  EXPECT_EQ(second["next"], "");
  EXPECT_EQ(Ids({"--limit", "0"}).size(), 6u);
}

TEST_F(LogTest, PrintsLinesAndTables) {
  const Finished lines = Log({"list", "--format", "lines"});
  ASSERT_EQ(Lines(lines.out).size(), 6u);
  EXPECT_EQ(nlohmann::json::parse(Lines(lines.out)[3])["outcome"], "crash");
  const Finished csv = Log({"list", "--format", "csv"});
  ASSERT_EQ(Lines(csv.out).size(), 7u);
  EXPECT_THAT(Lines(csv.out)[0], testing::StartsWith("id,time,purpose,outcome,median_us"));
  EXPECT_THAT(Lines(csv.out)[4], HasSubstr("\"signal 11, \"\"at once\"\"\""));
  const Finished text = Log({"list", "--retracted"});
  EXPECT_THAT(Lines(text.out)[6], HasSubstr("(retracted: a neighbour was loud)"));
  EXPECT_EQ(Log({"list", "--format", "json"}).out, Log({"list", "--json"}).out);
  EXPECT_EQ(Lines(Log({"best", "--format", "lines"}).out).size(), 1u);
  EXPECT_EQ(Lines(Log({"best", "--format", "csv"}).out).size(), 2u);
  EXPECT_EQ(Lines(Log({"stats", "--format", "csv"}).out)[0], "by,name,records,failures");
  EXPECT_EQ(Lines(Log({"stats", "--format", "lines"}).out).size(), 10u);
  EXPECT_EQ(Lines(Log({"show", "1", "--format", "lines"}).out).size(), 1u);
  EXPECT_EQ(Lines(Log({"show", "1", "--format", "csv"}).out).size(), 2u);
}

TEST_F(LogTest, KeepsTheFieldsThatScriptsRead) {
  const nlohmann::json list = LogJson({"list"});
  EXPECT_EQ(list["schema"], 1);
  for (const char* field :
       {"id", "workload", "target", "emulated", "signature", "config", "purpose", "outcome",
        "message", "median_us", "error_ratio", "job", "worker", "retracted", "time"}) {
    EXPECT_TRUE(list["records"][0].contains(field)) << field;
  }
  const nlohmann::json best = LogJson({"best"});
  ASSERT_EQ(best["best"].size(), 1u);
  for (const char* field : {"workload", "target", "emulated", "signature", "config", "best_us",
                            "default_us", "ratio_to_default", "trials", "job"}) {
    EXPECT_TRUE(best["best"][0].contains(field)) << field;
  }
  EXPECT_EQ(best["best"][0]["record"], 6);
  EXPECT_EQ(best["best"][0]["tuned"], true);
}

TEST_F(LogTest, BestTakesTheFiltersOfTasks) {
  EXPECT_EQ(LogJson({"best", "--op", "nn.relu"})["best"].size(), 1u);
  EXPECT_EQ(LogJson({"best", "--op", "nn.conv2d"})["best"].size(), 0u);
  EXPECT_EQ(LogJson({"best", "--device", "cpu of"})["best"].size(), 1u);
  EXPECT_EQ(LogJson({"best", "--before", "2023-11-14"})["best"].size(), 0u);
  EXPECT_EQ(Log({"best", "--outcome", "ok"}).exit_code, 2);
}

TEST_F(LogTest, ShowsAllThatRepeatsARecord) {
  const nlohmann::json record = LogJson({"show", "6"})["record"];
  EXPECT_EQ(record["workload_digest"], tuning_db::ExampleTask(7).workload_digest);
  EXPECT_EQ(record["samples_us"].size(), 3u);
  EXPECT_EQ(record["anchor_us"], 2.0);
  EXPECT_EQ(record["input_seed"], 1);
  EXPECT_EQ(record["constant_bytes"], 46'000'000'000);
  EXPECT_EQ(record["final"], 1);
  const Finished text = Log({"show", "6"});
  for (const std::string& said :
       {tuning_db::ExampleTask(7).workload, tuning_db::ExampleTask(7).target,
        tuning_db::ExampleRecord(0).artifact_digest, std::string("llvm 19.1.7"),
        std::string("cpu of a test"), std::string("warm"), std::string("tile=9 unroll=4")}) {
    EXPECT_THAT(text.out, HasSubstr(said));
  }
  const Finished none = Log({"show", "99"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("record 99"));
}

TEST_F(LogTest, CountsWhatWasMeasured) {
  const nlohmann::json stats = LogJson({"stats"});
  EXPECT_EQ(stats["records"], 6);
  EXPECT_EQ(stats["failures"], 1);
  EXPECT_EQ(stats["tasks"], 2);
  EXPECT_EQ(stats["finals"], 1);
  EXPECT_EQ(stats["targets"].size(), 2u);
  EXPECT_EQ(stats["devices"].size(), 2u);
  EXPECT_EQ(stats["days"][0]["name"], "2023-11-15");
  EXPECT_EQ(stats["outcomes"][1]["name"], "crash");
  EXPECT_EQ(stats["purposes"][1]["name"], "confirm");
  EXPECT_EQ(LogJson({"stats", "--outcome", "failed"})["records"], 1);
  const Finished text = Log({"stats", "--op", "nn.relu"});
  EXPECT_THAT(text.out, HasSubstr("5 records, 1 of them failures, of 1 tasks; 1 finals"));
  EXPECT_THAT(Log({"stats", "--job", "5"}).out, HasSubstr("0 records"));
}

TEST_F(LogTest, FlagsThatMakeNoSenseAreUsage) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"list", "--outcome", "bad"},
                                             {"list", "--purpose", "bad"},
                                             {"list", "--shape", "bad"},
                                             {"list", "--op", "relu(x)"},
                                             {"list", "--since", "bad"},
                                             {"list", "--before", "bad"},
                                             {"list", "--job", "0"},
                                             {"list", "--limit", "-1"},
                                             {"list", "--format", "xml"},
                                             {"list", "--format", "csv", "--json"},
                                             {"list", "--workload", "\xff"},
                                             {"stats", "--outcome", "bad"},
                                             {"show"},
                                             {"show", "x"}}) {
    const Finished finished = Log(bad);
    EXPECT_EQ(finished.exit_code, 2) << bad.back() << finished.err;
    EXPECT_EQ(Lines(finished.err).size(), 1u) << finished.err;
    EXPECT_EQ(finished.out, "");
  }
  EXPECT_EQ(Log({"list", "--after", "nonsense"}).exit_code, 3);
  EXPECT_EQ(Log({"list", "--after", "nonsense", "--json"}).out, "") << "nothing half-written";
  EXPECT_EQ(Log({"list", "--server", "unix:/nowhere"}).exit_code, 2) << "either, not both";
  EXPECT_EQ(RunHone({"log", "list", "--server", "unix:/nowhere/socket"}, folder_.path()).exit_code,
            5);
  EXPECT_EQ(RunHone({"log", "list", "--db", "none.db"}, folder_.path()).exit_code, 3);
}

}  // namespace
}  // namespace hone::cli
