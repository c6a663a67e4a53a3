// `hone log`: what was measured, and what won, from a database or a running honed.
#include <memory>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "cli/log_export.h"
#include "cli/log_filter.h"
#include "cli/log_import.h"
#include "cli/log_list.h"
#include "cli/log_show.h"
#include "cli/log_source.h"
#include "cli/log_stats.h"
#include "cli/rebuild.h"
#include "cli/rerun.h"
#include "cli/row_writer.h"
#include "cli/verb.h"
#include "cli/whole_number.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct LogOptions {
  LogPlace place;
  LogFilterFlags filter;
  FormatFlags format;
  LogPages pages;
  bool oldest_first = false;
  int64_t record = 0;
  bool rebuilds = false;
  bool reruns = false;
};

absl::Status ListRecords(const LogOptions& options) {
  v1::ListRecordsRequest request;
  HONE_ASSIGN_OR_RETURN(*request.mutable_filter(), options.filter.Resolve());
  request.set_oldest_first(options.oldest_first);
  HONE_ASSIGN_OR_RETURN(const auto log, options.place.Open());
  return PrintRecords(*log, std::move(request), options.pages, options.format.format);
}

absl::Status Best(const LogOptions& options) {
  v1::ListFinalsRequest request;
  HONE_ASSIGN_OR_RETURN(*request.mutable_filter(), options.filter.Resolve());
  HONE_ASSIGN_OR_RETURN(const auto log, options.place.Open());
  return PrintFinals(*log, std::move(request), options.pages, options.format.format);
}

absl::Status Stats(const LogOptions& options) {
  v1::GetLogStatsRequest request;
  HONE_ASSIGN_OR_RETURN(*request.mutable_filter(), options.filter.Resolve());
  HONE_ASSIGN_OR_RETURN(const auto log, options.place.Open());
  HONE_ASSIGN_OR_RETURN(const v1::GetLogStatsResponse stats, log->GetLogStats(request));
  PrintStats(stats, options.format.format);
  return absl::OkStatus();
}

absl::Status ShowRecord(const LogOptions& options) {
  v1::GetRecordRequest request;
  request.set_record(options.record);
  HONE_ASSIGN_OR_RETURN(const auto log, options.place.Open());
  HONE_ASSIGN_OR_RETURN(const v1::GetRecordResponse record, log->GetRecord(request));
  nlohmann::json repeated = nlohmann::json::object();
  absl::Status status;
  if (options.rebuilds) {
    HONE_ASSIGN_OR_RETURN(const v1::BuildReply rebuilt, Rebuild(record.record()));
    status = CompareBuilds(record.record(), rebuilt);
    repeated["rebuilt"] = {{"same", status.ok()},
                           {"artifact_digest", rebuilt.artifact_digest()},
                           {"toolchain", rebuilt.toolchain()},
                           {"message", rebuilt.message()}};
  }
  if (options.reruns) {
    HONE_ASSIGN_OR_RETURN(const Rerun rerun, MeasureAgain(record));
    repeated["rerun"] = {{"outcome", rerun.outcome},
                         {"message", rerun.message},
                         {"median_us", rerun.median_ns * 1e-3},
                         {"calibrator_us", rerun.calibrator_ns * 1e-3},
                         {"error_ratio", rerun.error_ratio},
                         {"regime", rerun.regime},
                         {"device", rerun.device},
                         {"same_device", rerun.device == record.record().device()},
                         {"toolchain", rerun.toolchain}};
  }
  PrintRecord(record, options.format.format, repeated);
  return status;
}

void AddPages(CLI::App& verb, LogPages& pages) {
  verb.add_option("--limit", pages.limit, "At most so many; 0 for all")
      ->check(WholeNumber<int64_t>(0))
      ->capture_default_str();
  verb.add_option("--after", pages.after, "Goes on where an earlier list ended: its \"next\"");
}

}  // namespace

void AddLog(CLI::App& app, Action& action) {
  CLI::App& log = *app.add_subcommand("log", "Query the tuning log");
  log.require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& help,
                       absl::Status (*run)(const LogOptions&)) {
    auto options = std::make_shared<LogOptions>();
    CLI::App& verb = *log.add_subcommand(name, help);
    options->place.AddTo(verb);
    options->format.AddTo(verb);
    verb.callback([options, &action, run] { action = [options, run] { return run(*options); }; });
    return std::pair(&verb, options);
  };
  const auto [list, of_list] = add("list", "Measurements, newest first", ListRecords);
  of_list->filter.AddTo(*list, /*has_outcomes=*/true);
  AddPages(*list, of_list->pages);
  list->add_flag("--oldest-first", of_list->oldest_first, "In the order in which they were made");
  const auto [best, of_best] = add("best", "What won the newest final of each task", Best);
  of_best->filter.AddTo(*best, /*has_outcomes=*/false);
  of_best->pages.limit = 0;
  AddPages(*best, of_best->pages);
  const auto [stats, of_stats] = add("stats", "What was measured, counted", Stats);
  of_stats->filter.AddTo(*stats, /*has_outcomes=*/true);
  const auto [show, of_show] = add("show", "A measurement, with all that repeats it", ShowRecord);
  show->add_option("RECORD", of_show->record, "Its id, as `hone log list` has it")
      ->required()
      ->check(WholeNumber<int64_t>(1));
  show->add_flag("--rebuild", of_show->rebuilds,
                 "Builds its config again and compares the artifacts; exit 1 where they differ");
  show->add_flag("--rerun", of_show->reruns, "Measures it again on this machine; stores nothing");
  AddLogExport(log, action);
  AddLogImport(log, action);
  AddLogMerge(log, action);
}

}  // namespace hone::cli
