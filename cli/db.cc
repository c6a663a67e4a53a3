// `hone db`: what does not hold in a tuning database; bringing one to this version's schema.
#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/model_options.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "support/status.h"
#include "tuning_db/backup.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

struct Options {
  std::string database;
  std::string copy;
  bool json = false;
};

absl::Status Check(const Options& options) {
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

// Opening for writing migrates, in one transaction a step; a file that a daemon holds is refused.
absl::Status Migrate(const Options& options) {
  const std::string path = DatabasePath(options.database);
  const absl::Status opened = tuning_db::OpenStore(path, tuning_db::OpenMode::kReadWrite).status();
  if (absl::IsUnavailable(opened)) return WithExitCode(opened, kBusy);
  HONE_RETURN_IF_ERROR(opened);
  fmt::print("{} has this version's schema\n", path);
  return absl::OkStatus();
}

absl::Status BackUp(const Options& options) {
  const std::string path = DatabasePath(options.database);
  if (tuning_db::IsPostgresAddress(path)) {
    return absl::FailedPreconditionError(
        "expected a database in a file; one on PostgreSQL is copied by pg_dump");
  }
  HONE_RETURN_IF_ERROR(tuning_db::BackUpSqlite(path, options.copy));
  fmt::print("{} is a copy of {}\n", options.copy, path);
  return absl::OkStatus();
}

}  // namespace

void AddDb(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& db = *app.add_subcommand("db", "Look after a tuning database");
  db.require_subcommand(1);
  CLI::App& check = *db.add_subcommand("check", "Verify that everything in it holds");
  check.add_option("--db", options->database, "The tuning database");
  check.add_flag("--json", options->json, "Prints one JSON document");
  CLI::App& migrate = *db.add_subcommand("migrate", "Bring it to this version's schema");
  migrate.add_option("--db", options->database, "The tuning database");
  migrate.callback([options, &action] { action = [options] { return Migrate(*options); }; });
  CLI::App& backup = *db.add_subcommand("backup", "Copy it, while whoever writes it goes on");
  backup.add_option("COPY", options->copy, "The file to make; none may be there")->required();
  backup.add_option("--db", options->database, "The tuning database");
  backup.callback([options, &action] { action = [options] { return BackUp(*options); }; });
  check.callback([options, &action] { action = [options] { return Check(*options); }; });
}

}  // namespace hone::cli
