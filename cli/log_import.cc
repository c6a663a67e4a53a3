#include "cli/log_import.h"

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/json_document.h"
#include "cli/log_lines.h"
#include "cli/log_source.h"
#include "cli/model_options.h"
#include "cli/service_address.h"
#include "cli/written_log.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct LogImportOptions {
  std::vector<std::string> from;
  LogPlace into;
  bool json = false;
};

void Print(const LogImportOptions& options, const tuning_db::LogCounts& counts,
           const std::string& into) {
  if (options.json) {
    const nlohmann::json document = {{"schema", 1},
                                     {"into", into},
                                     {"records", counts.records},
                                     {"finals", counts.finals},
                                     {"known", counts.known}};
    PrintDocument(document);
    return;
  }
  fmt::print("{}: added {} records and {} finals; {} were there\n", into, counts.records,
             counts.finals, counts.known);
}

absl::Status TakeAll(const LogImportOptions& options, WrittenLog log, const std::string& into,
                     std::vector<std::unique_ptr<LogParts>> parts) {
  LogTaker taker(&log);
  for (const auto& part : parts) HONE_RETURN_IF_ERROR(taker.Take(*part));
  HONE_ASSIGN_OR_RETURN(const tuning_db::LogCounts counts, taker.Finish());
  Print(options, counts, into);
  return absl::OkStatus();
}

absl::Status Import(const LogImportOptions& options) {
  // All of them first, so that a bad line changes nothing.
  std::vector<std::unique_ptr<LogParts>> parts;
  for (const std::string& path : options.from) {
    HONE_RETURN_IF_ERROR(CheckLogFile(path));
    HONE_ASSIGN_OR_RETURN(parts.emplace_back(), PartsOfFile(path));
  }
  HONE_ASSIGN_OR_RETURN(const std::string server,
                        NamedServer(options.into.server, options.into.database));
  if (!server.empty()) {
    WrittenLog log{.store = nullptr, .client = std::make_unique<LogClient>(server)};
    return TakeAll(options, std::move(log), ServerName(server), std::move(parts));
  }
  const std::string database = DatabasePath(options.into.database);
  HONE_ASSIGN_OR_RETURN(WrittenLog log, WrittenLog::Open(database, tuning_db::OpenMode::kCreate));
  return TakeAll(options, std::move(log), database, std::move(parts));
}

// A log begins with its first line; everything else has to be a database.
bool IsLog(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string first(sizeof(tuning_db::kLogFirstLine) - 1, '\0');
  return file.read(first.data(), static_cast<std::streamsize>(first.size())) &&
         first == tuning_db::kLogFirstLine;
}

absl::Status Merge(const LogImportOptions& options) {
  v1::LogFilter all;
  all.set_with_retracted(true);
  std::vector<std::unique_ptr<LogSource>> databases;
  std::vector<std::unique_ptr<LogParts>> parts;
  for (const std::string& from : options.from) {
    if (!tuning_db::IsPostgresAddress(from) && IsLog(from)) {
      HONE_RETURN_IF_ERROR(CheckLogFile(from));
      HONE_ASSIGN_OR_RETURN(parts.emplace_back(), PartsOfFile(from));
    } else {
      const LogPlace place{.database = from, .server = ""};
      HONE_ASSIGN_OR_RETURN(databases.emplace_back(), place.Open());
      parts.push_back(PartsOf(*databases.back(), all));
    }
  }
  HONE_ASSIGN_OR_RETURN(WrittenLog log,
                        WrittenLog::Open(options.into.database, tuning_db::OpenMode::kCreate));
  return TakeAll(options, std::move(log), options.into.database, std::move(parts));
}

}  // namespace

void AddLogImport(CLI::App& log, Action& action) {
  auto options = std::make_shared<LogImportOptions>();
  CLI::App& verb = *log.add_subcommand("import", "Add what `hone log export` wrote");
  verb.add_option("FILE", options->from, "Logs; all are checked before anything is added")
      ->required();
  options->into.AddTo(verb);
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Import(*options); }; });
}

void AddLogMerge(CLI::App& log, Action& action) {
  auto options = std::make_shared<LogImportOptions>();
  CLI::App& verb = *log.add_subcommand("merge", "Add the logs of other databases, or log files");
  verb.add_option("INTO", options->into.database, "The tuning database; made where there is none")
      ->required();
  verb.add_option("FROM", options->from, "Tuning databases or logs, which are only read")
      ->required();
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Merge(*options); }; });
}

}  // namespace hone::cli
