// The log through a running honed.
#include "gmock/gmock.h"
#include "tests/cli/farm_fixture.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

class LogThroughHoned : public FarmAtASocket {
 protected:
  void Fill(const std::string& name, int records) {
    const auto store =
        tuning_db::OpenSqliteStore(folder_ / name, tuning_db::OpenMode::kCreate).value();
    const int64_t task = store->EnsureTask(tuning_db::ExampleTask()).value();
    tuning_db::Record record = tuning_db::ExampleRecord(0);
    record.message = std::string(2000, 'm');  // so that it takes several calls
    for (int n = 0; n < records; ++n) {
      store->Import(tuning_db::ExampleTrial(task, 0, n), record).value();
    }
    store->AddFinal(tuning_db::ExampleFinal(task, 0)).value();
  }
};

TEST_F(LogThroughHoned, ItIsImportedExportedAndMergedThroughItsSocket) {
  Fill("a.db", 1500);
  Hone({"log", "export", "a.jsonl", "--db", "a.db"});
  ASSERT_NO_FATAL_FAILURE(StartHoned());
  const std::string server = tuning_db::WriterOf(folder_ / "hone.db").value().value().address;
  nlohmann::json added = Hone({"log", "import", "a.jsonl", "--db", "hone.db"});
  EXPECT_EQ(added["records"], 1500) << "through the daemon that holds the file";
  EXPECT_EQ(added["finals"], 1);
  added = Hone({"log", "import", "a.jsonl", "--server", server});
  EXPECT_EQ(added["known"], 1501);
  EXPECT_EQ(Hone({"log", "export", "b.jsonl", "--server", server})["lines"], 1501);
  EXPECT_EQ(ReadFile(folder_ / "b.jsonl"), ReadFile(folder_ / "a.jsonl"));
  EXPECT_EQ(Hone({"log", "merge", "hone.db", "a.db"})["known"], 1501);
  EXPECT_EQ(Hone({"db", "copy", "hone.db", "c.db"})["rows"].get<int>() > 1500, true)
      << "it is read while the daemon has it";
}

}  // namespace
}  // namespace hone::cli
