#include "tuning_db/sqlite/copy_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "support/file_system.h"
#include "support/status.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/lock_file.h"
#include "tuning_db/sqlite/scratch_copy.h"
#include "tuning_db/sqlite/sql_functions.h"
#include "tuning_db/store.h"

namespace hone::tuning_db::sqlite {
namespace {

constexpr size_t kRowsAtOnce = 500;

std::vector<std::string> NamesOf(const CopiedTable& table) {
  std::vector<std::string> names;
  for (const CopiedColumn& column : table.columns) names.emplace_back(column.name);
  return names;
}

CopiedValue ValueOf(const Statement& row, int at, ColumnKind kind) {
  if (row.IsNull(at)) return std::monostate();
  switch (kind) {
    case ColumnKind::kInteger:
    case ColumnKind::kTruth:
    case ColumnKind::kTime:
      return row.Integer(at);
    case ColumnKind::kReal:
      return row.Real(at);
    case ColumnKind::kText:
    case ColumnKind::kMessage:
    case ColumnKind::kDigestText:
      return row.Text(at);
    case ColumnKind::kDigest:
      return row.DigestText(at);
    case ColumnKind::kReals:
      return row.Reals(at);
    case ColumnKind::kPacked:
      return row.PackedReals(at);
  }
  return std::monostate();
}

class Source final : public RowSource {
 public:
  Source(std::unique_ptr<Store> store, std::unique_ptr<Connection> db)
      : store_(std::move(store)), db_(std::move(db)) {}

  absl::Status Begin(const CopiedTable& table) override {
    table_ = &table;
    query_.reset();
    HONE_ASSIGN_OR_RETURN(Statement query,
                          db_->Prepare(fmt::format("SELECT {} FROM {}",
                                                   fmt::join(NamesOf(table), ", "), table.name)));
    query_.emplace(std::move(query));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<CopiedRow>> Next() override {
    std::vector<CopiedRow> rows;
    while (query_ && rows.size() < kRowsAtOnce) {
      HONE_ASSIGN_OR_RETURN(const bool has_row, query_->Step());
      if (!has_row) {
        query_.reset();
        break;
      }
      CopiedRow& row = rows.emplace_back();
      int at = 0;
      for (const CopiedColumn& column : table_->columns) {
        row.push_back(ValueOf(*query_, at++, column.kind));
      }
    }
    return rows;
  }

 private:
  const std::unique_ptr<Store> store_;  // holds the locks of the file
  const std::unique_ptr<Connection> db_;
  const CopiedTable* table_ = nullptr;
  std::optional<Statement> query_;
};

// Binds the value as its column keeps it.
void BindValue(Statement& insert, const CopiedValue& value, ColumnKind kind) {
  if (const auto* number = std::get_if<int64_t>(&value)) return insert.Bind(*number);
  if (const auto* real = std::get_if<double>(&value)) return insert.Bind(*real);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return kind == ColumnKind::kDigest ? insert.Bind(Digest{*text}) : insert.Bind(*text);
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    return kind == ColumnKind::kPacked ? insert.Bind(Packed{*reals}) : insert.Bind(*reals);
  }
  insert.Bind(std::optional<int64_t>());
}

// Fills a file beside its place, which is moved there at the end.
class Sink final : public RowSink {
 public:
  Sink(std::string path, std::unique_ptr<LockFile> lock)
      : path_(std::move(path)), lock_(std::move(lock)), scratch_(path_ + ".new") {}

  absl::Status Open() {
    HONE_RETURN_IF_ERROR(CreateDatabaseFile(scratch_.path()));
    HONE_ASSIGN_OR_RETURN(db_, Connection::Open(scratch_.path(), Access::kWrite));
    // Rows that every database is made with come with the copy.
    return db_->Execute("BEGIN IMMEDIATE; DELETE FROM counters");
  }

  absl::Status Add(const CopiedTable& table, const std::vector<CopiedRow>& rows) override {
    const bool is_texts = std::string_view(table.name) == "texts";
    std::vector<std::string> names = NamesOf(table);
    if (is_texts) names.emplace_back("key");
    const std::vector<std::string> places(names.size(), "?");
    const std::string sql = fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name,
                                        fmt::join(names, ", "), fmt::join(places, ", "));
    for (const CopiedRow& row : rows) {
      HONE_ASSIGN_OR_RETURN(Statement insert, db_->Prepare(sql));
      for (size_t i = 0; i < row.size(); ++i) BindValue(insert, row[i], table.columns[i].kind);
      if (is_texts) insert.Bind(TextKey(std::get<std::string>(row[1])));
      HONE_RETURN_IF_ERROR(insert.Step().status());
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    HONE_RETURN_IF_ERROR(db_->Execute("COMMIT"));
    db_.reset();  // moves its log into the file
    return RenameDurably(scratch_.path(), path_);
  }

 private:
  const std::string path_;
  const std::unique_ptr<LockFile> lock_;
  const ScratchCopy scratch_;
  std::unique_ptr<Connection> db_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RowSource>> OpenRowSource(const std::string& path) {
  // Refuses what is no tuning database of this version, and holds the file's locks.
  HONE_ASSIGN_OR_RETURN(auto store, OpenSqliteStore(path, OpenMode::kReadOnly));
  HONE_ASSIGN_OR_RETURN(auto db, Connection::Open(path, Access::kRead));
  // All tables in one state.
  HONE_RETURN_IF_ERROR(db->Execute("BEGIN"));
  return std::make_unique<Source>(std::move(store), std::move(db));
}

absl::StatusOr<std::unique_ptr<RowSink>> OpenRowSink(const std::string& given) {
  HONE_ASSIGN_OR_RETURN(const std::string path, CanonicalPath(given));
  HONE_RETURN_IF_ERROR(RefuseNetworkFileSystem(path));
  HONE_ASSIGN_OR_RETURN(auto lock, LockFile::Take(path + ".lock", {}));
  if (std::filesystem::exists(path)) {
    return absl::InvalidArgumentError(fmt::format(
        "expected no file at {}, found one, and a copy replaces nothing; name another", given));
  }
  auto sink = std::make_unique<Sink>(path, std::move(lock));
  HONE_RETURN_IF_ERROR(sink->Open());
  return sink;
}

}  // namespace hone::tuning_db::sqlite
