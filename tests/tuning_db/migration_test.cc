// What becomes of databases of version 9, and what a dry run says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/temp_folder.h"
#include "tests/tuning_db/version7.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/store.h"
#include "tuning_db/try_migration.h"

namespace hone::tuning_db {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Version9Test : public testing::Test {
 protected:
  void SetUp() override {
    FillVersion7(path_);
    MigrateTo(path_, 9);
  }
  int64_t SampleBytes() const {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kRead).value();
    return db->Integer("SELECT LENGTH(samples_ns) FROM records WHERE id = 1").value().value();
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "hone.db";
};

TEST_F(Version9Test, SamplesArePackedAndAreTheSame) {
  EXPECT_EQ(SampleBytes(), 3 * 8);
  const auto store = OpenSqliteStore(path_, OpenMode::kReadWrite).value();
  EXPECT_LT(SampleBytes(), 3 * 8);
  EXPECT_THAT(store->Check().value(), IsEmpty());
  const auto records = store->Records({}).value();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].samples_ns, ExampleRecord(1, 1234).samples_ns);
  EXPECT_EQ(records[0].median_ns, 1234);
  EXPECT_THAT(records[1].samples_ns, IsEmpty());
}

TEST_F(Version9Test, SamplesAreStillOnlyRemoved) {
  OpenSqliteStore(path_, OpenMode::kReadWrite).value().reset();
  const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
  EXPECT_THAT(std::string(db->Execute("UPDATE records SET samples_ns = x'00'").message()),
              HasSubstr("append-only"));
  EXPECT_TRUE(
      db->Execute("UPDATE records SET samples_ns = SUBSTR(samples_ns, 1, 9) WHERE id = 1").ok())
      << "but for one";
  EXPECT_TRUE(db->Execute("UPDATE records SET samples_ns = x''").ok());
  EXPECT_FALSE(db->Execute("UPDATE records SET samples_ns = zeroblob(9)").ok());
}

// Versions up to 12 did not keep of which record a final came.
TEST_F(Version9Test, FinalsFindTheRecordsThatTheyWereSettledWith) {
  MigrateTo(path_, 12);
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
    ASSERT_TRUE(
        db->Execute("INSERT INTO trials SELECT 9, task, signature, config, nest_digest, 1, 0, job, "
                    "2, 1, 9, worker, 0 FROM trials WHERE id = 1;"
                    "INSERT INTO records SELECT 9, 9, r.task, r.signature, 1, r.job, 0, '', x'', "
                    "7, 7, 7, 0, r.artifact_digest, r.toolchain, f.device, r.regime, r.worker, "
                    "f.wall_time_ns FROM records r, finals f WHERE r.id = 1")
            .ok());
  }
  const auto store = OpenSqliteStore(path_, OpenMode::kReadWrite).value();
  EXPECT_EQ(store->NewestFinal(1, kSignature).value()->record, 9);
  ASSERT_TRUE(store->Retract(9, "the device lies").ok());
  EXPECT_FALSE(store->NewestFinal(1, kSignature).value().has_value());
}

TEST_F(Version9Test, FinalsWithoutARecordStay) {
  const auto store = OpenSqliteStore(path_, OpenMode::kReadWrite).value();
  EXPECT_EQ(store->NewestFinal(1, kSignature).value()->record, 0);
}

TEST_F(Version9Test, ADryRunSaysWhatWouldBeDoneAndDoesNothing) {
  const std::string before = folder_.Contents()[path_];
  const MigrationTrial trial = TryMigration(path_).value();
  EXPECT_EQ(trial.from, 9);
  EXPECT_EQ(trial.to, sqlite::NewestVersion());
  EXPECT_THAT(trial.faults, IsEmpty());
  EXPECT_EQ(folder_.Contents()[path_], before);
  for (const auto& [file, bytes] : folder_.Contents()) EXPECT_THAT(file, Not(HasSubstr("dry-run")));
}

TEST_F(Version9Test, ADryRunNamesWhatTheMigratedCopyLacks) {
  {
    const auto db = sqlite::Connection::Open(path_, sqlite::Access::kWrite).value();
    ASSERT_TRUE(db->Execute("UPDATE counters SET value = 1 WHERE name = 'fence'").ok());
  }
  EXPECT_THAT(TryMigration(path_)->faults, testing::Contains(HasSubstr("the fence counter")));
}

TEST_F(Version9Test, ADryRunOfTheNewestVersionHasNothingToDo) {
  OpenSqliteStore(path_, OpenMode::kReadWrite).value().reset();
  const MigrationTrial trial = TryMigration(path_).value();
  EXPECT_EQ(trial.from, trial.to);
}

TEST(TryMigrationTest, AFileThatIsNoDatabaseIsRefused) {
  const TempFolder folder;
  WriteBytes(folder / "other", "no database");
  EXPECT_TRUE(absl::IsInvalidArgument(TryMigration(folder / "other").status()));
  EXPECT_TRUE(absl::IsNotFound(TryMigration(folder / "none").status()));
}

}  // namespace
}  // namespace hone::tuning_db
