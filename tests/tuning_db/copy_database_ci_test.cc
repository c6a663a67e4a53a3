// Copies of whole databases from and to PostgreSQL.
#include <gmock/gmock.h>

#include <set>

#include "absl/strings/str_split.h"
#include "tests/tuning_db/copy_checks.h"
#include "tests/tuning_db/postgres_fixture.h"
#include "tests/tuning_db/temp_folder.h"
#include "tuning_db/copy_database.h"
#include "tuning_db/postgres/copy_rows.h"

namespace hone::tuning_db {
namespace {

class CopyPostgres : public PostgresFixture {
 protected:
  TempFolder folder_;
  const std::string from_ = folder_ / "hone.db";
  const std::string back_ = folder_ / "back.db";
};

TEST_F(CopyPostgres, ThereAndBackIsTheSame) {
  FillEachTable(*OpenSqliteStore(from_, OpenMode::kCreate).value());
  const std::string server = server_->Address();
  const auto there = CopyDatabase(from_, server);
  ASSERT_TRUE(there.ok()) << there.status();
  const auto back = CopyDatabase(server, back_);
  ASSERT_TRUE(back.ok()) << back.status();
  const std::vector<std::string> rows = RowsOf(from_);
  EXPECT_EQ(RowsOf(server), rows);
  EXPECT_EQ(RowsOf(back_), rows);
  ExpectToGoOn(server);
  ExpectToGoOn(back_);
}

TEST_F(CopyPostgres, WhatAServersStoreMadeIsCopiedToAFile) {
  const std::string server = server_->Address();
  FillEachTable(*OpenPostgresStore(server, OpenMode::kCreate).value());
  ASSERT_TRUE(CopyDatabase(server, from_).ok());
  EXPECT_EQ(RowsOf(from_), RowsOf(server));
  ExpectToGoOn(from_);
}

TEST_F(CopyPostgres, ADatabaseWithRowsIsRefusedAndOneThatDidNotFinishIsEmpty) {
  const std::string server = server_->Address();
  FillEachTable(*OpenSqliteStore(from_, OpenMode::kCreate).value());
  {
    const auto sink = postgres::OpenRowSink(server).value();
    ASSERT_TRUE(sink->Add(CopiedTables().at(0), {{int64_t{7}, "a text"}}).ok());
  }
  ASSERT_TRUE(CopyDatabase(from_, server).ok());
  const auto again = CopyDatabase(from_, server);
  EXPECT_TRUE(absl::IsInvalidArgument(again.status())) << again.status();
  EXPECT_EQ(RowsOf(server), RowsOf(from_));
}

TEST_F(CopyPostgres, NamesEachColumnOfTheSchema) {
  OpenPostgresStore(server_->Address(), OpenMode::kCreate).value();
  const std::string columns = server_->Ask(
      "SELECT string_agg(table_name || '.' || column_name, ' ') FROM information_schema.columns "
      "WHERE table_schema = 'hone' AND table_name NOT IN ('writers', 'schema_version')");
  const std::set<std::string> in_schema = absl::StrSplit(columns, ' ');
  // It follows from the body.
  std::set<std::string> copied = {"texts.digest"};
  for (const CopiedTable& table : CopiedTables()) {
    for (const CopiedColumn& column : table.columns) {
      const char* name = column.postgres_name != nullptr ? column.postgres_name : column.name;
      copied.insert(std::string(table.name) + "." + name);
    }
  }
  EXPECT_EQ(copied, in_schema);
}

}  // namespace
}  // namespace hone::tuning_db
