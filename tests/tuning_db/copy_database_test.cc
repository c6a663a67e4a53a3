// Copies of whole databases between files; tests/tuning_db/copy_database_ci_test.cc has those with
// PostgreSQL.
#include "tuning_db/copy_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/tuning_db/copy_checks.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/copy_rows.h"

namespace hone::tuning_db {
namespace {

class CopyDatabaseTest : public testing::Test {
 protected:
  CopyDatabaseTest() { FillEachTable(*OpenSqliteStore(from_, OpenMode::kCreate).value()); }

  TempFolder folder_;
  const std::string from_ = folder_ / "hone.db";
  const std::string to_ = folder_ / "copy.db";
};

TEST_F(CopyDatabaseTest, HasEachRow) {
  const auto copied = CopyDatabase(from_, to_);
  ASSERT_TRUE(copied.ok()) << copied.status();
  const std::vector<std::string> rows = RowsOf(to_);
  EXPECT_EQ(rows, RowsOf(from_));
  EXPECT_EQ(static_cast<size_t>(*copied), rows.size());
  ExpectToGoOn(to_);
}

TEST_F(CopyDatabaseTest, ReplacesNothing) {
  OpenSqliteStore(to_, OpenMode::kCreate).value();
  const auto before = folder_.Contents();
  EXPECT_TRUE(absl::IsInvalidArgument(CopyDatabase(from_, to_).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(CopyDatabase(from_, from_).status()));
  EXPECT_TRUE(absl::IsNotFound(CopyDatabase(folder_ / "none.db", folder_ / "new.db").status()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db"));
  EXPECT_EQ(folder_.Contents().at(to_), before.at(to_));
}

TEST_F(CopyDatabaseTest, IsRefusedWhileAnotherWritesThere) {
  const auto writer = OpenSqliteStore(to_, OpenMode::kCreate).value();
  EXPECT_TRUE(absl::IsUnavailable(CopyDatabase(from_, to_).status()));
}

TEST_F(CopyDatabaseTest, WhatDidNotFinishIsNotThereAndBeginsAnew) {
  {
    const auto sink = sqlite::OpenRowSink(to_).value();
    ASSERT_TRUE(sink->Add(CopiedTables().at(0), {{int64_t{7}, "a text"}}).ok());
    // Another that copies to the same place waits for nobody.
    EXPECT_TRUE(absl::IsUnavailable(CopyDatabase(from_, to_).status()));
  }
  EXPECT_FALSE(std::filesystem::exists(to_));
  EXPECT_TRUE(absl::IsNotFound(OpenSqliteStore(to_, OpenMode::kReadOnly).status()));
  ASSERT_TRUE(CopyDatabase(from_, to_).ok());
  EXPECT_EQ(RowsOf(to_), RowsOf(from_));
}

TEST_F(CopyDatabaseTest, IsOneStateOfADatabaseThatIsWritten) {
  const auto source = sqlite::OpenRowSource(from_).value();
  const std::vector<std::string> rows = RowsOf(*source);
  const auto writer = OpenSqliteStore(from_, OpenMode::kReadWrite).value();
  ASSERT_TRUE(writer->Retract(6, "while it is read").ok());
  EXPECT_EQ(RowsOf(*source), rows);
  EXPECT_NE(RowsOf(from_), rows);
}

TEST_F(CopyDatabaseTest, NamesEachColumnOfTheSchema) {
  const auto db = sqlite::Connection::Open(from_, sqlite::Access::kRead).value();
  auto query = db->Prepare(
                     "SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN "
                     "pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE "
                     "'sqlite_%'")
                   .value();
  std::set<std::string> in_schema;
  while (query.Step().value()) in_schema.insert(query.Text(0));
  // It follows from the body.
  std::set<std::string> copied = {"texts.key"};
  for (const CopiedTable& table : CopiedTables()) {
    for (const CopiedColumn& column : table.columns) {
      copied.insert(std::string(table.name) + "." + column.name);
    }
  }
  EXPECT_EQ(copied, in_schema);
}

}  // namespace
}  // namespace hone::tuning_db
