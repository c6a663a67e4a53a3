// `hone log export|import|merge` and `hone db copy` between files.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using tuning_db::OpenMode;

constexpr char kFirstLine[] = "{\"hone_log\": 1}\n";

class LogTransferTest : public testing::Test {
 protected:
  // A database with `records` measurements of a task, and a final.
  void Fill(const std::string& name, int n, int records = 3) {
    const auto store = tuning_db::OpenSqliteStore(folder_ / name, OpenMode::kCreate).value();
    const int64_t task = store->EnsureTask(tuning_db::ExampleTask(n)).value();
    for (int i = 0; i < records; ++i) {
      store->Import(tuning_db::ExampleTrial(task, 0, i), tuning_db::ExampleRecord(0)).value();
    }
    store->AddFinal(tuning_db::ExampleFinal(task, 0)).value();
  }
  Finished Hone(const std::vector<std::string>& args) { return RunHone(args, folder_.path()); }
  // The lines of a database, in any order.
  std::vector<std::string> Lines(const std::string& database) {
    const Finished exported = Hone({"log", "export", "--db", database, "--retracted"});
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_THAT(exported.out, StartsWith(kFirstLine));
    std::vector<std::string> lines;
    std::istringstream in(exported.out);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  }

  TestFolder folder_;
};

TEST_F(LogTransferTest, WhatIsExportedIsImportedOnce) {
  Fill("a.db", 1, 2500);  // of several pages
  const nlohmann::json exported =
      RunHoneJson({"log", "export", "a.jsonl", "--db", "a.db"}, folder_.path());
  EXPECT_EQ(exported["lines"], 2501);
  EXPECT_EQ(exported["file"], "a.jsonl");
  nlohmann::json added = RunHoneJson({"log", "import", "a.jsonl", "--db", "b.db"}, folder_.path());
  EXPECT_EQ(added["records"], 2500);
  EXPECT_EQ(added["finals"], 1);
  EXPECT_EQ(added["known"], 0);
  EXPECT_EQ(added["into"], "b.db");
  EXPECT_EQ(Lines("a.db"), Lines("b.db"));
  added = RunHoneJson({"log", "import", "a.jsonl", "--db", "b.db"}, folder_.path());
  EXPECT_EQ(added["records"], 0);
  EXPECT_EQ(added["known"], 2501);
}

TEST_F(LogTransferTest, ABadLineOfAnyFileChangesNothing) {
  Fill("a.db", 1);
  ASSERT_EQ(Hone({"log", "export", "good.jsonl", "--db", "a.db"}).exit_code, 0);
  WriteFile(folder_ / "bad.jsonl", std::string(kFirstLine) + "{\"kind\":\"record\"}\n");
  const Finished bad = Hone({"log", "import", "good.jsonl", "bad.jsonl", "--db", "b.db"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, HasSubstr("expected a tuning log at bad.jsonl, found at line 2: "));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.db"));
  EXPECT_EQ(Hone({"log", "import", "none.jsonl", "--db", "b.db"}).exit_code, 3);
  EXPECT_EQ(Hone({"log", "import", "a.db", "--db", "b.db"}).exit_code, 3);
  EXPECT_EQ(Hone({"log", "import", ".", "--db", "b.db"}).exit_code, 3);
  EXPECT_EQ(Hone({"log", "import"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.db"));
}

TEST_F(LogTransferTest, DatabasesThatAreMergedIntoEachOtherEndAlike) {
  Fill("a.db", 1);
  Fill("b.db", 2);
  Fill("c.db", 3);
  ASSERT_EQ(Hone({"log", "export", "c.jsonl", "--db", "c.db"}).exit_code, 0);
  const nlohmann::json merged =
      RunHoneJson({"log", "merge", "a.db", "b.db", "c.jsonl"}, folder_.path());
  EXPECT_EQ(merged["records"], 6);
  EXPECT_EQ(merged["finals"], 2);
  EXPECT_EQ(RunHoneJson({"log", "merge", "b.db", "a.db"}, folder_.path())["records"], 6);
  EXPECT_EQ(Lines("a.db"), Lines("b.db"));
  EXPECT_EQ(RunHoneJson({"log", "merge", "a.db", "b.db"}, folder_.path())["records"], 0);
  EXPECT_EQ(Hone({"log", "merge", "a.db", "none.db"}).exit_code, 3);
  for (const char* name : {"a.db", "b.db"}) {
    EXPECT_EQ(Hone({"db", "check", "--db", name}).exit_code, 0);
  }
}

TEST_F(LogTransferTest, AnExportIsFilteredAndAnonymised) {
  Fill("a.db", 1);
  {
    const auto store = tuning_db::OpenSqliteStore(folder_ / "a.db", OpenMode::kReadWrite).value();
    const int64_t task = store->EnsureTask(tuning_db::ExampleTask(2)).value();
    tuning_db::Record record = tuning_db::ExampleRecord(0);
    record.outcome = tuning_db::Outcome::kCrash;
    record.message = "in /data/of/ann";
    store->Import(tuning_db::ExampleTrial(task, 0), record).value();
  }
  const Finished failed = Hone({"log", "export", "--db", "a.db", "--outcome", "failed"});
  EXPECT_EQ(std::ranges::count(failed.out, '\n'), 2);
  EXPECT_THAT(failed.out, HasSubstr("/data/of/ann"));
  const Finished anonymous = Hone({"log", "export", "--db", "a.db", "--anonymise"});
  EXPECT_EQ(std::ranges::count(anonymous.out, '\n'), 6);
  for (const char* secret : {"/data/of/ann", "worker-1", "cpu of a test"}) {
    EXPECT_THAT(anonymous.out, Not(HasSubstr(secret)));
  }
  WriteFile(folder_ / "anonymous.jsonl", anonymous.out);
  EXPECT_EQ(
      RunHoneJson({"log", "import", "anonymous.jsonl", "--db", "b.db"}, folder_.path())["records"],
      4);
}

TEST_F(LogTransferTest, AnExportIsThereWholeOrNotAtAll) {
  EXPECT_EQ(Hone({"log", "export", "a.jsonl", "--db", "none.db"}).exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.jsonl"));
  Fill("a.db", 1);
  EXPECT_EQ(Hone({"log", "export", "no/a.jsonl", "--db", "a.db"}).exit_code, 3);
  EXPECT_EQ(Hone({"log", "export", "--db", "a.db", "--json"}).exit_code, 2);
  EXPECT_EQ(Hone({"log", "export", "a.jsonl", "--db", "a.db", "--outcome", "x"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.jsonl"));
}

TEST_F(LogTransferTest, AHeldDatabaseIsNotImportedInto) {
  Fill("a.db", 1);
  ASSERT_EQ(Hone({"log", "export", "a.jsonl", "--db", "a.db"}).exit_code, 0);
  const auto holder = tuning_db::OpenSqliteStore(folder_ / "a.db", OpenMode::kReadWrite).value();
  EXPECT_EQ(Hone({"log", "import", "a.jsonl", "--db", "a.db"}).exit_code, 7);
  EXPECT_EQ(Hone({"db", "copy", "b.db", "a.db"}).exit_code, 3) << "there is no b.db";
  Fill("b.db", 2);
  EXPECT_EQ(Hone({"db", "copy", "b.db", "a.db"}).exit_code, 7);
}

TEST_F(LogTransferTest, ACopyIsTheWholeDatabase) {
  Fill("a.db", 1);
  const nlohmann::json copied = RunHoneJson({"db", "copy", "a.db", "b.db"}, folder_.path());
  EXPECT_GT(copied["rows"], 6);
  EXPECT_EQ(Lines("a.db"), Lines("b.db"));
  EXPECT_EQ(Hone({"db", "check", "--db", "b.db"}).exit_code, 0);
  const Finished again = Hone({"db", "copy", "a.db", "b.db"});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.err, HasSubstr("expected no file at b.db"));
}

}  // namespace
}  // namespace hone::cli
