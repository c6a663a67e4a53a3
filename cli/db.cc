// `hone db`: what does not hold in a tuning database; bringing one to this version's schema; what
// is kept in it, and what counts.
#include <charconv>

#include "CLI/CLI.hpp"
#include "cli/db_copy.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/log_upkeep.h"
#include "cli/model_options.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "support/clock.h"
#include "support/status.h"
#include "tuning_db/backup.h"
#include "tuning_db/store.h"
#include "tuning_db/try_migration.h"

namespace hone::cli {
namespace {

struct DbOptions {
  std::string database;
  std::string copy;
  std::string keep;
  int64_t record = 0;
  std::string reason;
  bool is_dry_run = false;
  bool json = false;
};

absl::Status Check(const DbOptions& options) {
  const std::string path = DatabasePath(options.database);
  HONE_ASSIGN_OR_RETURN(const auto store,
                        tuning_db::OpenStore(path, tuning_db::OpenMode::kReadOnly));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> faults, store->Check());
  if (options.json) {
    const nlohmann::json document = {{"schema", 1}, {"database", path}, {"faults", faults}};
    PrintDocument(document);
  } else {
    for (const std::string& fault : faults) fmt::print("{}\n", fault);
    if (faults.empty()) fmt::print("{} is sound\n", path);
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::DataLossError(fmt::format(
      "expected a sound database at {}, found {} faults; restore a backup", path, faults.size()));
}

// "90d" or "12h" as nanoseconds.
absl::StatusOr<int64_t> ParseAge(const std::string& text) {
  constexpr int64_t kMost = 100'000;
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(end, text.data() + text.size());
  if (error != std::errc() || count < 0 || count > kMost || (unit != "d" && unit != "h")) {
    return WithExitCode(absl::InvalidArgumentError(fmt::format(
                            "expected an age such as 90d or 12h for --keep, found '{}'", text)),
                        kUsage);
  }
  return count * (unit == "d" ? 24 : 1) * kHourNs;
}

// What only a file can be asked.
absl::Status RequireFile(const std::string& database, std::string_view advice) {
  if (!tuning_db::IsPostgresAddress(database)) return absl::OkStatus();
  return absl::UnimplementedError(
      fmt::format("expected a database in a file, found one on PostgreSQL; {}", advice));
}

absl::Status TryMigration(const std::string& path) {
  HONE_RETURN_IF_ERROR(RequireFile(
      path, "copy it with pg_dump into another database, and migrate that to see what happens"));
  HONE_ASSIGN_OR_RETURN(const tuning_db::MigrationTrial trial, tuning_db::TryMigration(path));
  if (trial.from == trial.to) {
    fmt::print("{} has this version's schema, {}: there is nothing to migrate\n", path, trial.to);
  } else {
    fmt::print("{} would be migrated from schema {} to {}\n", path, trial.from, trial.to);
  }
  for (const std::string& fault : trial.faults) fmt::print("{}\n", fault);
  if (trial.faults.empty()) return absl::OkStatus();
  return absl::DataLossError(fmt::format(
      "expected a sound copy of {} after its migration, found {} faults; restore a backup", path,
      trial.faults.size()));
}

// Opening for writing migrates, in one transaction a step; a file that a daemon holds is refused.
absl::Status Migrate(const DbOptions& options) {
  const std::string path = DatabasePath(options.database);
  if (options.is_dry_run) return TryMigration(path);
  const absl::Status opened = tuning_db::OpenStore(path, tuning_db::OpenMode::kReadWrite).status();
  if (tuning_db::IsHeld(path, opened)) return WithExitCode(opened, kBusy);
  HONE_RETURN_IF_ERROR(opened);
  fmt::print("{} has this version's schema\n", path);
  return absl::OkStatus();
}

absl::Status BackUp(const DbOptions& options) {
  const std::string path = DatabasePath(options.database);
  HONE_RETURN_IF_ERROR(RequireFile(path, "pg_dump copies it"));
  HONE_RETURN_IF_ERROR(tuning_db::BackUpSqlite(path, options.copy));
  fmt::print("{} is a copy of {}\n", options.copy, path);
  return absl::OkStatus();
}

absl::Status Prune(const DbOptions& options) {
  HONE_ASSIGN_OR_RETURN(const int64_t age_ns, ParseAge(options.keep));
  const std::string path = DatabasePath(options.database);
  HONE_ASSIGN_OR_RETURN(const tuning_db::PruneTotals totals,
                        PruneLog(path, Clock::Real().WallTimeNs() - age_ns));
  fmt::print("{}: removed {} events and the samples of {} records\n", path, totals.events,
             totals.samples);
  return absl::OkStatus();
}

absl::Status Retract(const DbOptions& options) {
  const std::string path = DatabasePath(options.database);
  HONE_RETURN_IF_ERROR(RetractRecord(path, options.record, options.reason));
  fmt::print("record {} of {} counts for nothing from now on\n", options.record, path);
  return absl::OkStatus();
}

}  // namespace

void AddDb(CLI::App& app, Action& action) {
  auto options = std::make_shared<DbOptions>();
  CLI::App& db = *app.add_subcommand("db", "Look after a tuning database");
  db.require_subcommand(1);
  CLI::App& check = *db.add_subcommand("check", "Verify that everything in it holds");
  check.add_option("--db", options->database, "The tuning database");
  check.add_flag("--json", options->json, "Prints one JSON document");
  CLI::App& migrate = *db.add_subcommand("migrate", "Bring it to this version's schema");
  migrate.add_option("--db", options->database, "The tuning database");
  migrate.add_flag("--dry-run", options->is_dry_run,
                   "Only says what it would do, as a copy that is thrown away shows");
  migrate.callback([options, &action] { action = [options] { return Migrate(*options); }; });
  CLI::App& backup = *db.add_subcommand("backup", "Copy it, while whoever writes it goes on");
  backup.add_option("COPY", options->copy, "The file to make; none may be there")->required();
  backup.add_option("--db", options->database, "The tuning database");
  backup.callback([options, &action] { action = [options] { return BackUp(*options); }; });
  CLI::App& prune = *db.add_subcommand(
      "prune", "Remove old events of jobs, and old samples that no final needs; records stay");
  prune.add_option("--keep", options->keep, "What is younger stays: 90d, 12h")->required();
  prune.add_option("--db", options->database, "The tuning database");
  prune.callback([options, &action] { action = [options] { return Prune(*options); }; });
  CLI::App& retract = *db.add_subcommand("retract", "Make a record count for nothing");
  retract.add_option("RECORD", options->record, "Its id, as `hone log list` has it")->required();
  retract.add_option("--reason", options->reason, "Why, for whoever finds it")->required();
  retract.add_option("--db", options->database, "The tuning database");
  retract.callback([options, &action] { action = [options] { return Retract(*options); }; });
  check.callback([options, &action] { action = [options] { return Check(*options); }; });
  AddDbCopy(db, action);
}

}  // namespace hone::cli
