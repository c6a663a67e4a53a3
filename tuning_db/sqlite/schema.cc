#include "tuning_db/sqlite/schema.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "support/crash_point.h"
#include "support/status.h"
#include "tuning_db/sqlite/canonical_configs.h"
#include "tuning_db/sqlite/migrations/migrations.h"
#include "tuning_db/sqlite/progress_rows.h"

namespace hone::tuning_db::sqlite {
namespace {

// One step of the history: statements, then what SQL cannot say.
struct Migration {
  const char* statements;
  absl::Status (*then)(Connection& db) = nullptr;
};

// The fourth has no statements: configs had been stored in the order in which code set their knobs.
const std::array kMigrations = {
    Migration{kFirst},
    Migration{kMisses},
    Migration{kJobFigures},
    Migration{"", CanonicaliseConfigs},
    Migration{kModelFinals},
    Migration{kEarlyEnds},
    Migration{kPrivateJobs},
    Migration{kFarmState},
    Migration{kFarmLog, CountAllProgress},
    Migration{kLeaseFacts},
    Migration{kJobsOfMany},
    Migration{kPackedSamples},
    Migration{kRecordsOfFinals},
    Migration{kLeastSamples},
    Migration{kGrants},
    Migration{kQuarantines},
    Migration{kJobWishes},
    Migration{kLogQuestions},
    Migration{kJobRequests},
    Migration{kJobEnds},
};

absl::Status CheckReferences(Connection& db) {
  HONE_ASSIGN_OR_RETURN(Statement check, db.Prepare("PRAGMA foreign_key_check"));
  HONE_ASSIGN_OR_RETURN(const bool has_row, check.Step());
  if (!has_row) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("row {} of {} refers to a row of {} that is not there; restore a backup",
                  check.Integer(1), check.Text(0), check.Text(2)));
}

absl::Status RunMigration(Connection& db, int version) {
  const auto point = [&](const char* when) {
    CrashPoint(fmt::format("migration.{}.{}", version, when));
  };
  point("before");
  // A table that is made anew would take what refers to it along; what refers to nothing is found
  // before the commit.
  HONE_RETURN_IF_ERROR(db.Execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE"));
  const Migration& migration = kMigrations[static_cast<size_t>(version - 1)];
  absl::Status status = db.Execute(migration.statements);
  if (status.ok() && migration.then != nullptr) status = migration.then(db);
  if (status.ok()) status = CheckReferences(db);
  if (status.ok()) status = db.Execute(fmt::format("PRAGMA user_version = {}", version));
  point("before_commit");
  if (status.ok()) status = db.Execute("COMMIT");
  if (!status.ok() && db.IsInTransaction()) db.Execute("ROLLBACK").IgnoreError();
  point("after_commit");
  HONE_RETURN_IF_ERROR(status);
  return db.Execute("PRAGMA foreign_keys = ON");
}

}  // namespace

int NewestVersion() { return static_cast<int>(kMigrations.size()); }

absl::StatusOr<int> VersionOf(Connection& db) {
  HONE_ASSIGN_OR_RETURN(const auto version, db.Integer("PRAGMA user_version"));
  return static_cast<int>(version.value_or(0));
}

absl::Status Migrate(Connection& db, int version) {
  HONE_ASSIGN_OR_RETURN(const int found, VersionOf(db));
  if (found < kChecksumVersion && version >= kChecksumVersion) {
    HONE_RETURN_IF_ERROR(db.ReserveChecksums());
  }
  for (int next = found + 1; next <= version; ++next) HONE_RETURN_IF_ERROR(RunMigration(db, next));
  return absl::OkStatus();
}

}  // namespace hone::tuning_db::sqlite
