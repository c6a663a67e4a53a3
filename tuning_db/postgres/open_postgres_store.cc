// Opens the store in a PostgreSQL database.
#include <fmt/format.h>

#include <utility>

#include "support/status.h"
#include "tuning_db/postgres/connection.h"
#include "tuning_db/postgres/postgres_store.h"
#include "tuning_db/postgres/schema.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using postgres::Connection;

absl::Status RequireVersion(std::optional<int> found, OpenMode mode) {
  const int newest = postgres::NewestVersion();
  if (!found && mode != OpenMode::kCreate) {
    return absl::NotFoundError(
        "the PostgreSQL database holds no tuning database; honed makes it (honed --db)");
  }
  if (found.value_or(0) > newest) {
    return absl::FailedPreconditionError(
        fmt::format("the tuning database has schema version {}, this Hone knows up to {}; update "
                    "hone",
                    *found, newest));
  }
  if (mode == OpenMode::kReadOnly && *found < newest) {
    return absl::FailedPreconditionError(
        fmt::format("the tuning database has schema version {}, which this Hone reads only after a "
                    "migration to {}: run `hone db migrate`",
                    *found, newest));
  }
  return absl::OkStatus();
}

// Texts are compared and kept as UTF-8.
absl::Status RequireUtf8(Connection& db) {
  HONE_ASSIGN_OR_RETURN(const postgres::Rows rows, db.Query("SHOW server_encoding"));
  if (rows[0].Text(0) == "UTF8") return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("expected a PostgreSQL database in UTF8, found one in {}; make it with "
                  "`createdb --encoding UTF8 --template template0`",
                  rows[0].Text(0)));
}

// Marks of writers that are long gone; their answers are known by now.
absl::Status ForgetOldWriters(Connection& db) {
  return db.Execute("DELETE FROM writers WHERE written_at < now() - interval '7 days'");
}

}  // namespace

bool IsPostgresAddress(std::string_view database) {
  return database.starts_with("postgresql://") || database.starts_with("postgres://");
}

bool IsHeld(const std::string& database, const absl::Status& opened) {
  return absl::IsUnavailable(opened) && !IsPostgresAddress(database);
}

absl::StatusOr<std::unique_ptr<Store>> OpenPostgresStore(const std::string& address, OpenMode mode,
                                                         const Clock& clock, int64_t patience_ns) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> db, Connection::Open(address));
  HONE_RETURN_IF_ERROR(RequireUtf8(*db));
  HONE_ASSIGN_OR_RETURN(const std::optional<int> version, postgres::VersionOf(*db));
  HONE_RETURN_IF_ERROR(RequireVersion(version, mode));
  std::unique_ptr<postgres::Writer> writer;
  if (mode != OpenMode::kReadOnly) {
    HONE_RETURN_IF_ERROR(postgres::Migrate(*db));
    HONE_RETURN_IF_ERROR(ForgetOldWriters(*db));
    writer = std::make_unique<postgres::Writer>(address, std::move(db), kMostWaiting, patience_ns);
  }
  return std::make_unique<postgres::PostgresStore>(address, std::move(writer), clock, patience_ns);
}

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& database, OpenMode mode,
                                                 const Writer& self, const Clock& clock) {
  if (IsPostgresAddress(database)) return OpenPostgresStore(database, mode, clock);
  return OpenSqliteStore(database, mode, self, clock);
}

}  // namespace hone::tuning_db
