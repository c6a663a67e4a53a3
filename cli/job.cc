// `hone job submit`, `list`, `show`, `watch` and `cancel`: jobs of a running honed; `list`, `show`
// and `cancel` also where none runs, in the database.
#include <algorithm>
#include <map>

#include "CLI/CLI.hpp"
#include "cli/daemon_channel.h"
#include "cli/exit_code.h"
#include "cli/job_progress.h"
#include "cli/json_document.h"
#include "cli/model_options.h"
#include "cli/stored_jobs.h"
#include "cli/tuning_client.h"
#include "cli/tuning_request.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "support/clock.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct Options {
  int64_t job = 0;
  int64_t after_seq = 0;
  std::string database;
  std::string server;
  bool all = false;
  bool json = false;
};

// Where a verb finds jobs: at a service, or, where `server` is empty, in the file.
struct JobsPlace {
  std::string server;
  std::string database;
};

absl::StatusOr<JobsPlace> FindJobs(const Options& options) {
  JobsPlace place;
  HONE_ASSIGN_OR_RETURN(place.server, ServiceAddress(options.server, options.database));
  if (place.server.empty()) place.database = DatabasePath(options.database);
  return place;
}

bool HasEnded(v1::JobState state) {
  return state != v1::JOB_STATE_QUEUED && state != v1::JOB_STATE_RUNNING;
}

std::string StateName(v1::JobState state) {
  static const std::map<v1::JobState, std::string> kNames = {
      {v1::JOB_STATE_QUEUED, "queued"},
      {v1::JOB_STATE_RUNNING, "running"},
      {v1::JOB_STATE_DONE, "done"},
      {v1::JOB_STATE_FAILED, "failed"},
      {v1::JOB_STATE_CANCELLED, "cancelled"}};
  const auto it = kNames.find(state);
  return it != kNames.end() ? it->second : "unknown";
}

nlohmann::json ToJson(const v1::JobInfo& job) {
  const JobTotals totals = TotalsOf(job);
  return {{"job", job.id()},
          {"state", StateName(job.state())},
          {"message", job.message()},
          {"private", job.is_private()},
          {"model", job.spec().model()},
          {"target", job.spec().target()},
          {"search", job.spec().search()},
          {"seed", job.spec().seed()},
          {"limit_s", static_cast<double>(job.spec().limit_ns()) * 1e-9},
          {"kernels", job.tasks_size()},
          {"trials", totals.trials},
          {"failures", totals.failures},
          {"done", totals.done},
          {"budget", totals.budget}};
}

void PrintHead() {
  fmt::print("{:>6} {:<9} {:>7} {:>13} {:>7}  {}\n", "job", "state", "kernels", "trials", "failed",
             "model");
}

void PrintRow(const v1::JobInfo& job) {
  const JobTotals totals = TotalsOf(job);
  fmt::print("{:>6} {:<9} {:>7} {:>13} {:>7}  {}\n", job.id(), StateName(job.state()),
             job.tasks_size(), fmt::format("{}/{}", totals.done, totals.budget), totals.failures,
             job.spec().model());
}

absl::Status Submit(const TuningRequest& request, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(request.server, request.database));
  TuningRequest of_server = request;
  of_server.server = address;
  HONE_ASSIGN_OR_RETURN(const TuningWork work, Prepare(of_server));
  TuningClient client(address);
  HONE_ASSIGN_OR_RETURN(const v1::JobInfo job, client.Submit(work.spec));
  if (json) {
    PrintDocument({{"schema", 1},
                   {"job", job.id()},
                   {"server", address},
                   {"target", work.spec.target()},
                   {"kernels", work.spec.tasks_size()}});
    return absl::OkStatus();
  }
  fmt::print(
      "job {0}: hone job watch {0} --server {1} shows it, hone job cancel {0} --server {1} "
      "ends it\n",
      job.id(), address);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::JobInfo>> ListAt(const JobsPlace& place, bool is_default) {
  if (!place.server.empty()) return TuningClient(place.server).List();
  absl::StatusOr<StoredJobs> stored = StoredJobs::Open(place.database);
  // The default database counts as empty where it is not there.
  if (is_default && absl::IsNotFound(stored.status())) return std::vector<v1::JobInfo>();
  HONE_RETURN_IF_ERROR(stored.status());
  return stored->List();
}

absl::StatusOr<v1::JobInfo> GetAt(const JobsPlace& place, int64_t job) {
  if (!place.server.empty()) {
    HONE_ASSIGN_OR_RETURN(const v1::GetJobResponse found, TuningClient(place.server).Get(job));
    return found.job();
  }
  HONE_ASSIGN_OR_RETURN(StoredJobs stored, StoredJobs::Open(place.database));
  return stored.Get(job);
}

absl::Status List(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const JobsPlace place, FindJobs(options));
  HONE_ASSIGN_OR_RETURN(std::vector<v1::JobInfo> jobs, ListAt(place, options.database.empty()));
  std::reverse(jobs.begin(), jobs.end());
  if (!options.all) std::erase_if(jobs, [](const auto& job) { return HasEnded(job.state()); });
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const v1::JobInfo& job : jobs) list.push_back(ToJson(job));
    PrintDocument({{"schema", 1},
                   {"server", place.server},
                   {"database", place.database},
                   {"jobs", std::move(list)}});
    return absl::OkStatus();
  }
  if (jobs.empty() && !options.all) {
    fmt::print("no job that has not ended; --all lists those that have\n");
    return absl::OkStatus();
  }
  PrintHead();
  for (const v1::JobInfo& job : jobs) PrintRow(job);
  return absl::OkStatus();
}

absl::Status Show(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const JobsPlace place, FindJobs(options));
  HONE_ASSIGN_OR_RETURN(const v1::JobInfo job, GetAt(place, options.job));
  if (options.json) {
    nlohmann::json document = ToJson(job);
    document["schema"] = 1;
    document["server"] = place.server;
    document["database"] = place.database;
    document["tasks"] = TasksToJson(job);
    PrintDocument(document);
    return absl::OkStatus();
  }
  PrintHead();
  PrintRow(job);
  if (!job.message().empty()) fmt::print("{}\n", job.message());
  fmt::print("target {}\n\n", job.spec().target());
  PrintTasks(job);
  return absl::OkStatus();
}

absl::Status Watch(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(options.server, options.database));
  const int64_t start_ns = Clock::Real().NowNs();
  CatchInterrupts();
  TuningClient client(address);
  HONE_ASSIGN_OR_RETURN(
      const v1::GetJobResponse ended,
      WatchToEnd(client, options.job,
                 {.after_seq = options.after_seq, .stop = [] { return Interrupts() > 0; }}));
  if (Interrupts() > 0) {
    return WithExitCode(
        absl::CancelledError(fmt::format("interrupted; job {} goes on", options.job)),
        kInterrupted);
  }
  PrintResult(ended, options.json, static_cast<double>(Clock::Real().NowNs() - start_ns) * 1e-9);
  return StateToStatus(ended.job());
}

absl::Status Cancel(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const JobsPlace place, FindJobs(options));
  HONE_RETURN_IF_ERROR(place.server.empty()
                           ? CancelStored(place.database, options.job)
                           : TuningClient(place.server).Cancel(options.job).status());
  fmt::print("job {} is cancelled; what was settled stays\n", options.job);
  return absl::OkStatus();
}

// A verb of the honed that holds --db, or that --server names.
CLI::App& AddVerb(CLI::App& job, const std::string& name, const std::string& help,
                  const std::shared_ptr<Options>& options) {
  CLI::App& verb = *job.add_subcommand(name, help);
  CLI::Option* db = verb.add_option("--db", options->database, "The tuning database");
  verb.add_option("--server", options->server, "A running honed: unix:PATH")->excludes(db);
  return verb;
}

CLI::App& AddVerbOfJob(CLI::App& job, const std::string& name, const std::string& help,
                       const std::shared_ptr<Options>& options) {
  CLI::App& verb = AddVerb(job, name, help, options);
  verb.add_option("JOB", options->job, "The job's number")->required()->check(CLI::PositiveNumber);
  return verb;
}

void AddSubmit(CLI::App& job, Action& action) {
  auto request = std::make_shared<TuningRequest>();
  auto json = std::make_shared<bool>(false);
  CLI::App& submit = *job.add_subcommand("submit", "Starts a tuning job and does not wait for it");
  request->AddTo(submit);
  submit.add_flag("--json", *json, "Prints one JSON document");
  submit.callback([=, &action] { action = [=] { return Submit(*request, *json); }; });
}

}  // namespace

void AddJob(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& job = *app.add_subcommand("job", "Tuning jobs");
  job.require_subcommand(1);
  AddSubmit(job, action);
  CLI::App& list =
      AddVerb(job, "list", "Lists the jobs that have not ended, newest first", options);
  list.add_flag("--all", options->all, "Lists those that have ended, too");
  list.add_flag("--json", options->json, "Prints one JSON document");
  list.callback([options, &action] { action = [options] { return List(*options); }; });
  CLI::App& show = AddVerbOfJob(job, "show", "Shows how a job stands, by kernel", options);
  show.add_flag("--json", options->json, "Prints one JSON document");
  show.callback([options, &action] { action = [options] { return Show(*options); }; });
  CLI::App& watch =
      AddVerbOfJob(job, "watch", "Shows a job's progress until it has ended", options);
  watch.add_option("--after-seq", options->after_seq, "Leaves out the events up to this one")
      ->check(CLI::NonNegativeNumber);
  watch.add_flag("--json", options->json, "Prints one JSON document when it has ended");
  watch.callback([options, &action] { action = [options] { return Watch(*options); }; });
  CLI::App& cancel = AddVerbOfJob(job, "cancel", "Cancels a job; what was settled stays", options);
  cancel.callback([options, &action] { action = [options] { return Cancel(*options); }; });
}

}  // namespace hone::cli
