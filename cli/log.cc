// `hone log list` and `hone log best`: what was measured, and what won.
#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/model_options.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "runtime/target_text.h"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

constexpr int64_t kDefaultLimit = 50;

struct Options {
  std::string database;
  std::string workload;
  std::string target;
  int64_t limit = kDefaultLimit;
  bool with_retracted = false;
  bool json = false;
};

absl::StatusOr<std::unique_ptr<tuning_db::Store>> Open(const Options& options) {
  return tuning_db::OpenStore(DatabasePath(options.database), tuning_db::OpenMode::kReadOnly);
}

// Behind a figure that says nothing of a real processor.
const char* EmulatedMark(const nlohmann::json& row) {
  return row["emulated"].get<bool>() ? "  (emulated)" : "";
}

absl::Status List(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const auto store, Open(options));
  tuning_db::RecordFilter filter;
  filter.target = options.target;
  filter.workload_substring = options.workload;
  filter.with_retracted = options.with_retracted;
  HONE_ASSIGN_OR_RETURN(
      const tuning_db::RecordPage page,
      store->ListRecords(filter, tuning_db::Order::kNewestFirst, "", options.limit));
  nlohmann::json list = nlohmann::json::array();
  std::map<int64_t, tuning_db::Task> tasks;
  for (const tuning_db::Record& record : page.records) {
    const tuning_db::Trial& trial = record.of_trial;
    if (!tasks.contains(trial.task)) {
      HONE_ASSIGN_OR_RETURN(tasks[trial.task], store->GetTask(trial.task));
    }
    const tuning_db::Task& task = tasks[trial.task];
    list.push_back({{"id", record.id},
                    {"workload", task.workload},
                    {"target", task.target},
                    {"emulated", IsOfEmulated(task.target)},
                    {"signature", trial.signature},
                    {"config", trial.config},
                    {"purpose", std::string(tuning_db::Name(trial.purpose))},
                    {"outcome", std::string(tuning_db::Name(record.outcome))},
                    {"message", record.message},
                    {"median_us", record.median_ns * 1e-3},
                    {"error_ratio", record.error_ratio},
                    {"job", trial.job},
                    {"worker", record.worker},
                    {"retracted", record.retracted},
                    {"time", record.wall_time_ns}});
  }
  if (options.json) {
    const nlohmann::json document = {{"schema", 1}, {"records", list}};
    PrintDocument(document);
    return absl::OkStatus();
  }
  fmt::print("{:>7} {:<8} {:<13} {:>12}  {}\n", "id", "purpose", "outcome", "median", "config");
  for (const nlohmann::json& record : list) {
    const auto retracted = record["retracted"].get<std::string>();
    fmt::print("{:>7} {:<8} {:<13} {:>12}  {}{}{}\n", record["id"].get<int64_t>(),
               record["purpose"].get<std::string>(), record["outcome"].get<std::string>(),
               FormatNs(record["median_us"].get<double>() * 1e3),
               record["config"].get<std::string>(), EmulatedMark(record),
               retracted.empty() ? "" : fmt::format("  (retracted: {})", retracted));
  }
  return absl::OkStatus();
}

absl::Status Best(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const auto store, Open(options));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<tuning_db::TaskFinal> finals,
      store->Finals({.target = options.target, .workload_substring = options.workload}));
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [task, final] : finals) {
    const tuning_db::FinalEntry& winner = final.entries[final.winner];
    list.push_back({{"workload", task.workload},
                    {"target", task.target},
                    {"emulated", IsOfEmulated(task.target)},
                    {"signature", final.signature},
                    {"config", winner.config},
                    {"best_us", tuning_db::WinnerNs(final) * 1e-3},
                    {"default_us", final.entries[final.default_entry].median_ns * 1e-3},
                    {"ratio_to_default", winner.ratio_to_default},
                    {"trials", final.distinct_trials},
                    {"job", final.job}});
  }
  if (options.json) {
    const nlohmann::json document = {{"schema", 1}, {"best", list}};
    PrintDocument(document);
    return absl::OkStatus();
  }
  for (const nlohmann::json& best : list) {
    fmt::print("{:>12} {:>6.2f}x of default, {} trials  {}{}\n    {}\n",
               FormatNs(best["best_us"].get<double>() * 1e3),
               best["ratio_to_default"].get<double>(), best["trials"].get<int64_t>(),
               best["config"].get<std::string>(), EmulatedMark(best),
               best["workload"].get<std::string>());
  }
  return absl::OkStatus();
}

CLI::App& AddVerb(CLI::App& log, const std::string& name, const std::string& help,
                  const std::shared_ptr<Options>& options) {
  CLI::App& verb = *log.add_subcommand(name, help);
  verb.add_option("--db", options->database, "The tuning database");
  verb.add_option("--workload", options->workload, "A part of the workload's text");
  verb.add_option("--target", options->target, "The target's text");
  verb.add_flag("--json", options->json, "Prints one JSON document");
  return verb;
}

}  // namespace

void AddLog(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& log = *app.add_subcommand("log", "Query the tuning log");
  log.require_subcommand(1);
  CLI::App& list = AddVerb(log, "list", "Measurements, newest first", options);
  list.add_option("--limit", options->limit, "At most so many; 0 for all")->capture_default_str();
  list.add_flag("--retracted", options->with_retracted, "Also what was retracted, and why");
  list.callback([options, &action] { action = [options] { return List(*options); }; });
  CLI::App& best = AddVerb(log, "best", "What won the newest final of each task", options);
  best.callback([options, &action] { action = [options] { return Best(*options); }; });
}

}  // namespace hone::cli
