#include "tuning_db/postgres/copy_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/digest.h"
#include "support/status.h"
#include "tuning_db/postgres/connection.h"
#include "tuning_db/postgres/schema.h"
#include "tuning_db/store.h"

namespace hone::tuning_db::postgres {
namespace {

constexpr int kRowsAtOnce = 500;
// A statement has at most 65535 parameters; far fewer rows make one trip cheap.
constexpr size_t kRowsOfInsert = 100;

constexpr int64_t kNsOfMicrosecond = 1000;

std::string NameOf(const CopiedColumn& column) {
  return column.postgres_name != nullptr ? column.postgres_name : column.name;
}

// The column as it is read: times in microseconds.
std::string Selected(const CopiedColumn& column) {
  if (column.kind != ColumnKind::kTime) return NameOf(column);
  return fmt::format("(extract(epoch FROM {}) * 1000000)::bigint", NameOf(column));
}

CopiedValue ValueOf(const Row& row, int at, ColumnKind kind) {
  if (row.IsNull(at)) return std::monostate();
  switch (kind) {
    case ColumnKind::kInteger:
    case ColumnKind::kTruth:
      return row.Integer(at);
    case ColumnKind::kTime:
      return row.Integer(at) * kNsOfMicrosecond;
    case ColumnKind::kReal:
      return row.Real(at);
    case ColumnKind::kText:
      return row.Text(at);
    case ColumnKind::kMessage:
      return row.Bytes(at);
    case ColumnKind::kDigest:
    case ColumnKind::kDigestText:
      return row.DigestText(at);
    case ColumnKind::kReals:
    case ColumnKind::kPacked:
      return row.Reals(at);
  }
  return std::monostate();
}

class Source final : public RowSource {
 public:
  Source(std::unique_ptr<Store> store, std::unique_ptr<Connection> db)
      : store_(std::move(store)), db_(std::move(db)) {}

  absl::Status Begin(const CopiedTable& table) override {
    if (table_ != nullptr) HONE_RETURN_IF_ERROR(db_->Execute("CLOSE copied"));
    table_ = &table;
    std::vector<std::string> columns;
    for (const CopiedColumn& column : table.columns) columns.push_back(Selected(column));
    return db_->Execute(fmt::format("DECLARE copied NO SCROLL CURSOR FOR SELECT {} FROM {}",
                                    fmt::join(columns, ", "), table.name));
  }

  absl::StatusOr<std::vector<CopiedRow>> Next() override {
    // Not prepared once for all tables, as the columns differ.
    HONE_ASSIGN_OR_RETURN(const Rows found, db_->Query(fmt::format("FETCH {} FROM copied -- {}",
                                                                   kRowsAtOnce, table_->name)));
    std::vector<CopiedRow> rows;
    for (int i = 0; i < found.size(); ++i) {
      CopiedRow& row = rows.emplace_back();
      int at = 0;
      for (const CopiedColumn& column : table_->columns) {
        row.push_back(ValueOf(found[i], at++, column.kind));
      }
    }
    return rows;
  }

 private:
  const std::unique_ptr<Store> store_;
  const std::unique_ptr<Connection> db_;
  const CopiedTable* table_ = nullptr;
};

void AddValue(Parameters& parameters, const CopiedValue& value, ColumnKind kind) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    if (kind == ColumnKind::kTruth) return parameters.Add(*number != 0);
    return parameters.Add(kind == ColumnKind::kTime ? *number / kNsOfMicrosecond : *number);
  }
  if (const auto* real = std::get_if<double>(&value)) return parameters.Add(*real);
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (kind == ColumnKind::kMessage) return parameters.Add(Bytes{*text});
    const bool is_digest = kind == ColumnKind::kDigest || kind == ColumnKind::kDigestText;
    return is_digest ? parameters.Add(Digest{*text}) : parameters.Add(*text);
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) return parameters.Add(*reals);
  parameters.Add(std::optional<int64_t>());
}

// One transaction, under the lock of all who write.
class Sink final : public RowSink {
 public:
  explicit Sink(std::unique_ptr<Connection> db) : db_(std::move(db)) {}

  absl::Status Open() {
    HONE_RETURN_IF_ERROR(
        db_->Execute(fmt::format("BEGIN ISOLATION LEVEL READ COMMITTED; {}", kLockWriters)));
    for (const CopiedTable& table : CopiedTables()) HONE_RETURN_IF_ERROR(RequireEmpty(table));
    // Rows that every database is made with come with the copy.
    return db_->Execute("DELETE FROM counters");
  }

  absl::Status Add(const CopiedTable& table, const std::vector<CopiedRow>& rows) override {
    for (size_t begin = 0; begin < rows.size(); begin += kRowsOfInsert) {
      HONE_RETURN_IF_ERROR(
          Insert(table, rows, begin, std::min(rows.size(), begin + kRowsOfInsert)));
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override { return db_->Execute("COMMIT"); }

 private:
  absl::Status RequireEmpty(const CopiedTable& table) {
    if (std::string_view(table.name) == "counters") return absl::OkStatus();
    HONE_ASSIGN_OR_RETURN(const auto has_row,
                          db_->Integer(fmt::format("SELECT 1 FROM {} LIMIT 1", table.name)));
    if (!has_row) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("expected a database without rows to copy into, found rows in its table {}; "
                    "make another",
                    table.name));
  }

  absl::Status Insert(const CopiedTable& table, const std::vector<CopiedRow>& rows, size_t begin,
                      size_t end) {
    const bool is_texts = std::string_view(table.name) == "texts";
    std::vector<std::string> names;
    for (const CopiedColumn& column : table.columns) names.push_back(NameOf(column));
    if (is_texts) names.emplace_back("digest");
    Parameters parameters;
    std::vector<std::string> places;
    for (size_t i = begin; i < end; ++i) {
      std::vector<std::string> of_row;
      for (size_t at = 0; at < table.columns.size(); ++at) {
        const ColumnKind kind = table.columns[at].kind;
        AddValue(parameters, rows[i][at], kind);
        of_row.push_back(fmt::format(
            fmt::runtime(kind == ColumnKind::kTime
                             ? "timestamptz 'epoch' + ${}::bigint * interval '1 microsecond'"
                             : "${}"),
            parameters.size()));
      }
      if (is_texts) {
        parameters.Add(Digest{Sha256Hex(std::get<std::string>(rows[i][1]))});
        of_row.push_back(fmt::format("${}", parameters.size()));
      }
      places.push_back(fmt::format("({})", fmt::join(of_row, ", ")));
    }
    return db_
        ->QueryWith(fmt::format("INSERT INTO {} ({}) VALUES {}", table.name, fmt::join(names, ", "),
                                fmt::join(places, ", ")),
                    parameters)
        .status();
  }

  const std::unique_ptr<Connection> db_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RowSource>> OpenRowSource(const std::string& address) {
  // Refuses what is no tuning database of this version.
  HONE_ASSIGN_OR_RETURN(auto store, OpenPostgresStore(address, OpenMode::kReadOnly));
  HONE_ASSIGN_OR_RETURN(auto db, Connection::Open(address));
  // All tables in one state. Between two pages the other database may take its time.
  HONE_RETURN_IF_ERROR(
      db->Execute("SET idle_in_transaction_session_timeout TO 0; "
                  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return std::make_unique<Source>(std::move(store), std::move(db));
}

absl::StatusOr<std::unique_ptr<RowSink>> OpenRowSink(const std::string& address) {
  // Makes the tables where there are none; without rows, that is as good as nothing.
  HONE_RETURN_IF_ERROR(OpenPostgresStore(address, OpenMode::kCreate).status());
  HONE_ASSIGN_OR_RETURN(auto db, Connection::Open(address));
  auto sink = std::make_unique<Sink>(std::move(db));
  HONE_RETURN_IF_ERROR(sink->Open());
  return sink;
}

}  // namespace hone::tuning_db::postgres
