#include "cli/db_copy.h"

#include <cstdint>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "fmt/format.h"
#include "support/status.h"
#include "tuning_db/copy_database.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

struct DbCopyOptions {
  std::string from;
  std::string to;
  bool json = false;
};

absl::Status Copy(const DbCopyOptions& options) {
  const absl::StatusOr<int64_t> rows = tuning_db::CopyDatabase(options.from, options.to);
  if (tuning_db::IsHeld(options.to, rows.status())) return WithExitCode(rows.status(), kBusy);
  HONE_RETURN_IF_ERROR(rows.status());
  if (options.json) {
    const nlohmann::json document = {
        {"schema", 1}, {"from", options.from}, {"to", options.to}, {"rows", *rows}};
    PrintDocument(document);
  } else {
    fmt::print("{} is a copy of {}, of {} rows\n", options.to, options.from, *rows);
  }
  return absl::OkStatus();
}

}  // namespace

void AddDbCopy(CLI::App& db, Action& action) {
  auto options = std::make_shared<DbCopyOptions>();
  CLI::App& verb = *db.add_subcommand(
      "copy", "Copy all of it, with jobs and grants, between a file and PostgreSQL, either way");
  verb.add_option("FROM", options->from, "The tuning database to copy, which is only read")
      ->required();
  verb.add_option("TO", options->to, "The one to make: no file yet, or a server's without rows")
      ->required();
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Copy(*options); }; });
}

}  // namespace hone::cli
