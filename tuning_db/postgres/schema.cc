#include "tuning_db/postgres/schema.h"

#include <fmt/format.h>

#include <array>

#include "support/crash_point.h"
#include "support/status.h"
#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {
namespace {

constexpr std::array kMigrations = {kFirst,           kLeaseFacts,   kJobsOfMany,  kBytesOfReasons,
                                    kRecordsOfFinals, kLeastSamples, kGrants,      kQuarantines,
                                    kJobWishes,       kLogQuestions, kJobRequests, kJobEnds};

// `version` is the one that it makes. Under the writers' lock, and so beside no writer and no other
// migration; whoever came second finds the version raised and does nothing.
absl::Status RunMigration(Connection& db, int version) {
  const auto point = [&](const char* when) {
    CrashPoint(fmt::format("migration.{}.{}", version, when));
  };
  point("before");
  HONE_RETURN_IF_ERROR(
      db.Execute(fmt::format("BEGIN ISOLATION LEVEL READ COMMITTED; {}", kLockWriters)));
  const auto run = [&]() -> absl::Status {
    HONE_ASSIGN_OR_RETURN(const std::optional<int> found, VersionOf(db));
    if (found.value_or(0) >= version) return absl::OkStatus();
    if (!found) {
      HONE_RETURN_IF_ERROR(db.Execute(
          "CREATE SCHEMA IF NOT EXISTS hone; CREATE TABLE schema_version (version integer "
          "NOT NULL); INSERT INTO schema_version VALUES (0)"));
    }
    HONE_RETURN_IF_ERROR(db.Execute(kMigrations[static_cast<size_t>(version - 1)]));
    return db.Execute(fmt::format("UPDATE schema_version SET version = {}", version));
  };
  absl::Status status = run();
  point("before_commit");
  if (status.ok()) status = db.Execute("COMMIT");
  if (!status.ok()) db.Execute("ROLLBACK").IgnoreError();
  point("after_commit");
  return status;
}

}  // namespace

int NewestVersion() { return static_cast<int>(kMigrations.size()); }

absl::StatusOr<std::optional<int>> VersionOf(Connection& db) {
  HONE_ASSIGN_OR_RETURN(const auto has_table,
                        db.Integer("SELECT to_regclass('hone.schema_version') IS NOT NULL"));
  if (has_table.value_or(0) == 0) return std::optional<int>();
  HONE_ASSIGN_OR_RETURN(const auto version, db.Integer("SELECT version FROM hone.schema_version"));
  return std::optional<int>(static_cast<int>(version.value_or(0)));
}

absl::Status Migrate(Connection& db, int version) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int> found, VersionOf(db));
  for (int next = found.value_or(0) + 1; next <= version; ++next) {
    HONE_RETURN_IF_ERROR(RunMigration(db, next));
  }
  return absl::OkStatus();
}

}  // namespace hone::tuning_db::postgres
