// `hone job`: jobs of a running honed; all but `submit` and `watch` also where none runs, in the
// database.
#include <algorithm>
#include <map>
#include <optional>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/job_progress.h"
#include "cli/json_document.h"
#include "cli/model_options.h"
#include "cli/printable.h"
#include "cli/request_digest.h"
#include "cli/service_address.h"
#include "cli/short_text.h"
#include "cli/stored_jobs.h"
#include "cli/time_flag.h"
#include "cli/tuning_client.h"
#include "cli/tuning_request.h"
#include "cli/verb.h"
#include "cli/whole_number.h"
#include "fmt/format.h"
#include "support/clock.h"
#include "support/status.h"
#include "tuner/device_need.h"
#include "tuner/job_limits.h"
#include "tuner/priority_weight.h"

namespace hone::cli {
namespace {

struct JobOptions {
  int64_t job = 0;
  int64_t after_seq = 0;
  std::string database;
  std::string server;
  std::string submitter;
  std::string target;
  std::string model;
  std::string since;
  int64_t limit = 0;
  std::vector<std::string> states;
  bool all = false;
  bool json = false;
};

// Where a verb finds jobs: at a service, or, where `server` is empty, in the file.
struct JobsPlace {
  std::string server;
  std::string database;
};

absl::StatusOr<JobsPlace> FindJobs(const JobOptions& options) {
  JobsPlace place;
  HONE_ASSIGN_OR_RETURN(place.server, ServiceAddress(options.server, options.database));
  if (place.server.empty()) place.database = DatabasePath(options.database);
  return place;
}

const std::map<std::string, v1::JobState>& States() {
  static const std::map<std::string, v1::JobState> kStates = {
      {"queued", v1::JOB_STATE_QUEUED}, {"running", v1::JOB_STATE_RUNNING},
      {"done", v1::JOB_STATE_DONE},     {"failed", v1::JOB_STATE_FAILED},
      {"paused", v1::JOB_STATE_PAUSED}, {"cancelled", v1::JOB_STATE_CANCELLED}};
  return kStates;
}

std::string StateName(v1::JobState state) {
  for (const auto& [name, known] : States()) {
    if (known == state) return name;
  }
  return "unknown";
}

// The states of jobs that `hone job list` asks for; an empty list asks for any.
std::vector<v1::JobState> WantedStates(const JobOptions& options) {
  if (options.all) return {};
  if (options.states.empty()) {
    return {v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING, v1::JOB_STATE_PAUSED};
  }
  std::vector<v1::JobState> states;
  for (const std::string& name : options.states) states.push_back(States().at(name));
  return states;
}

// Empty: what the daemon requires.
std::string SandboxText(v1::SandboxLevel level) {
  return level == v1::SANDBOX_LEVEL_UNSPECIFIED ? "" : tuner::SandboxName(level);
}

nlohmann::json JobJson(const v1::JobInfo& job) {
  const JobTotals totals = TotalsOf(job);
  return {{"job", job.id()},
          {"state", StateName(job.state())},
          {"message", job.message()},
          {"waiting", WaitsFor(job)},
          {"private", job.is_private()},
          {"submitter", job.submitter()},
          {"submitted_at_ns", job.submitted_at_ns()},
          {"priority", job.spec().priority()},
          {"sandbox", SandboxText(job.spec().sandbox())},
          {"device_class", job.spec().device_class()},
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
  fmt::print("{:>6} {:<9} {:<12} {:>8} {:>7} {:>13} {:>7}  {:<14} {}\n", "job", "state",
             "submitter", "priority", "kernels", "trials", "failed", "target", "model");
}

void PrintRow(const v1::JobInfo& job) {
  const JobTotals totals = TotalsOf(job);
  fmt::print("{:>6} {:<9} {:<12} {:>8} {:>7} {:>13} {:>7}  {:<14} {}\n", job.id(),
             StateName(job.state()), job.submitter().empty() ? "-" : Printable(job.submitter()),
             job.spec().priority(), job.tasks_size(),
             fmt::format("{}/{}", totals.done, totals.budget), totals.failures,
             ShortTarget(job.spec().target()), Printable(job.spec().model()));
  if (const std::string what = WaitsFor(job); !what.empty()) {
    fmt::print("{:>6} waits: {}\n", "", Printable(what));
  }
}

// What a job waits for, only a daemon knows.
void SayWhatWasRead(const JobsPlace& place) {
  if (!place.server.empty()) return;
  fmt::print(stderr, "note: no honed serves {}; this is what it has stored\n", place.database);
}

// Each of several jobs that are submitted at once needs a name of its own.
std::string ClientIdOf(const std::string& client_id, size_t target, size_t targets) {
  if (client_id.empty() || targets == 1) return client_id;
  return fmt::format("{}:{}", client_id, target);
}

absl::Status Submit(const TuningRequest& request, const std::string& client_id, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::string address, DaemonAddress(request.server, request.database));
  TuningRequest of_server = request;
  of_server.server = address;
  HONE_ASSIGN_OR_RETURN(const std::vector<TuningRequest> requests, of_server.Split());
  // All are read before any job is there.
  std::vector<v1::JobSpec> specs;
  std::vector<std::string> digests;
  for (const TuningRequest& one : requests) {
    HONE_ASSIGN_OR_RETURN(TuningWork work, Prepare(one));
    if (IsIdle(one, work)) {
      return absl::InvalidArgumentError(
          fmt::format("expected kernels that compiles for {} missed, found none that is not tuned "
                      "by now; there is nothing to submit",
                      work.target.ToString()));
    }
    digests.push_back(DigestOf(one, work));
    specs.push_back(std::move(work.spec));
  }
  TuningClient client(address);
  nlohmann::json jobs = nlohmann::json::array();
  for (size_t i = 0; i < specs.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(
        const v1::JobInfo job,
        client.Submit(specs[i], ClientIdOf(client_id, i, specs.size()), digests[i]));
    jobs.push_back(
        {{"job", job.id()}, {"target", specs[i].target()}, {"kernels", specs[i].tasks_size()}});
    if (json) continue;
    fmt::print(
        "job {0}: hone job watch {0} --server {1} shows it, hone job cancel {0} --server {1} "
        "ends it\n",
        job.id(), ServerArgument(address));
  }
  NoteFewTrials(request);
  if (!json) return absl::OkStatus();
  nlohmann::json document = jobs[0];
  document["schema"] = 1;
  document["server"] = ServerName(address);
  document["jobs"] = std::move(jobs);
  PrintDocument(document);
  return absl::OkStatus();
}

// The jobs that `hone job list` prints, newest first.
absl::StatusOr<std::vector<v1::JobInfo>> ListAt(const JobsPlace& place, const JobOptions& options) {
  v1::ListJobsRequest wanted;
  for (const v1::JobState state : WantedStates(options)) wanted.add_states(state);
  wanted.set_submitter(options.submitter);
  wanted.set_target(options.target);
  wanted.set_model(options.model);
  HONE_ASSIGN_OR_RETURN(const int64_t since_ns, ParseTimeFlag("--since", options.since));
  wanted.set_submitted_since_ns(since_ns);
  if (!place.server.empty()) return TuningClient(place.server).List(wanted, options.limit);
  absl::StatusOr<StoredJobs> stored = StoredJobs::Open(place.database);
  // The default database counts as empty where it is not there.
  if (options.database.empty() && absl::IsNotFound(stored.status())) {
    return std::vector<v1::JobInfo>();
  }
  HONE_RETURN_IF_ERROR(stored.status());
  return stored->List(wanted, options.limit);
}

absl::StatusOr<v1::JobInfo> GetAt(const JobsPlace& place, int64_t job) {
  if (!place.server.empty()) {
    HONE_ASSIGN_OR_RETURN(const v1::GetJobResponse found, TuningClient(place.server).Get(job));
    return found.job();
  }
  HONE_ASSIGN_OR_RETURN(StoredJobs stored, StoredJobs::Open(place.database));
  return stored.Get(job);
}

absl::Status ListJobs(const JobOptions& options) {
  HONE_ASSIGN_OR_RETURN(const JobsPlace place, FindJobs(options));
  HONE_ASSIGN_OR_RETURN(const std::vector<v1::JobInfo> jobs, ListAt(place, options));
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const v1::JobInfo& job : jobs) list.push_back(JobJson(job));
    PrintDocument({{"schema", 1},
                   {"server", ServerArgument(place.server)},
                   {"database", place.database},
                   {"jobs", std::move(list)}});
    return absl::OkStatus();
  }
  if (jobs.empty() && !options.all && options.states.empty()) {
    fmt::print("no job that has not ended; --all lists those that have\n");
    SayWhatWasRead(place);
    return absl::OkStatus();
  }
  PrintHead();
  for (const v1::JobInfo& job : jobs) PrintRow(job);
  SayWhatWasRead(place);
  return absl::OkStatus();
}

absl::Status ShowJob(const JobOptions& options) {
  HONE_ASSIGN_OR_RETURN(const JobsPlace place, FindJobs(options));
  HONE_ASSIGN_OR_RETURN(const v1::JobInfo job, GetAt(place, options.job));
  if (options.json) {
    nlohmann::json document = JobJson(job);
    document["schema"] = 1;
    document["server"] = ServerArgument(place.server);
    document["database"] = place.database;
    document["tasks"] = TasksToJson(job);
    PrintDocument(document);
    return absl::OkStatus();
  }
  PrintHead();
  PrintRow(job);
  if (!job.message().empty()) fmt::print("{}\n", Printable(job.message()));
  fmt::print("target {}\n\n", Printable(job.spec().target()));
  PrintTasks(job);
  SayWhatWasRead(place);
  return absl::OkStatus();
}

absl::Status Watch(const JobOptions& options) {
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

// A verb that changes how a job stands: at a service, or in the database.
struct Change {
  absl::StatusOr<v1::JobInfo> (TuningClient::*at_server)(int64_t job);
  absl::Status (*stored)(const std::string& database, int64_t job);
  const char* says;
};
constexpr Change kCancel = {&TuningClient::Cancel, CancelStored,
                            "job {} is cancelled; what was settled stays"};
constexpr Change kPause = {&TuningClient::Pause, PauseStored,
                           "job {} is paused; hone job resume goes on with it"};
constexpr Change kResume = {&TuningClient::Resume, ResumeStored, "job {} is resumed"};

absl::Status Apply(const Change& change, const JobOptions& options) {
  HONE_ASSIGN_OR_RETURN(const JobsPlace place, FindJobs(options));
  if (place.server.empty()) {
    HONE_RETURN_IF_ERROR(change.stored(place.database, options.job));
  } else {
    TuningClient client(place.server);
    HONE_RETURN_IF_ERROR((client.*change.at_server)(options.job).status());
  }
  if (!options.json) {
    fmt::print("{}{}\n", fmt::format(fmt::runtime(change.says), options.job),
               place.server.empty() ? " (in the database, which no honed serves)" : "");
    return absl::OkStatus();
  }
  HONE_ASSIGN_OR_RETURN(const v1::JobInfo job, GetAt(place, options.job));
  nlohmann::json document = JobJson(job);
  document["schema"] = 1;
  PrintDocument(document);
  return absl::OkStatus();
}

struct CloneOptions {
  std::optional<int64_t> trials;
  std::optional<uint64_t> seed;
  std::optional<int> priority;
  std::string time;
  std::string client_id;
};

absl::StatusOr<v1::CloneJobRequest> RequestOf(const CloneOptions& clone, int64_t job) {
  v1::CloneJobRequest request;
  request.set_id(job);
  request.set_client_id(clone.client_id.empty() ? NewClientId() : clone.client_id);
  if (clone.trials) request.set_trials(*clone.trials);
  if (clone.seed) request.set_seed(*clone.seed);
  if (clone.priority) request.set_priority(*clone.priority);
  if (clone.time.empty()) return request;
  HONE_ASSIGN_OR_RETURN(const int64_t limit_ns, ParseDuration(clone.time));
  request.set_limit_ns(limit_ns);
  return request;
}

absl::Status Clone(const JobOptions& options, const CloneOptions& clone) {
  HONE_ASSIGN_OR_RETURN(const JobsPlace place, FindJobs(options));
  HONE_ASSIGN_OR_RETURN(const v1::CloneJobRequest request, RequestOf(clone, options.job));
  int64_t job = 0;
  if (place.server.empty()) {
    HONE_ASSIGN_OR_RETURN(job, CloneStored(place.database, request));
  } else {
    HONE_ASSIGN_OR_RETURN(const v1::JobInfo made, TuningClient(place.server).Clone(request));
    job = made.id();
  }
  if (!options.json) {
    fmt::print("job {} is a clone of job {}{}\n", job, options.job,
               place.server.empty() ? "; a honed on this database works it off" : "");
    return absl::OkStatus();
  }
  HONE_ASSIGN_OR_RETURN(const v1::JobInfo made, GetAt(place, job));
  nlohmann::json document = JobJson(made);
  document["schema"] = 1;
  document["server"] = ServerArgument(place.server);
  document["database"] = place.database;
  document["clone_of"] = options.job;
  PrintDocument(document);
  return absl::OkStatus();
}

// A verb of the honed that holds --db, or that --server names.
CLI::App& AddJobVerb(CLI::App& job, const std::string& name, const std::string& help,
                     const std::shared_ptr<JobOptions>& options) {
  CLI::App& verb = *job.add_subcommand(name, help);
  CLI::Option* db = verb.add_option("--db", options->database, "The tuning database");
  verb.add_option("--server", options->server,
                  "A running honed: unix:PATH, a join string, or @FILE with one")
      ->excludes(db);
  return verb;
}

CLI::App& AddVerbOfJob(CLI::App& job, const std::string& name, const std::string& help,
                       const std::shared_ptr<JobOptions>& options) {
  CLI::App& verb = AddJobVerb(job, name, help, options);
  verb.add_option("JOB", options->job, "The job's number")
      ->required()
      ->check(WholeNumber<int64_t>(1));
  return verb;
}

constexpr char kClientIdHelp[] =
    "Names the new job for its client: the same call again, also after a lost answer, makes none, "
    "and another call by this name is refused";

void AddSubmit(CLI::App& job, Action& action) {
  auto request = std::make_shared<TuningRequest>();
  auto client_id = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App& submit = *job.add_subcommand("submit", "Starts a tuning job and does not wait for it");
  request->AddTo(submit);
  submit.add_option("--client-id", *client_id, kClientIdHelp)->check(Utf8Text());
  submit.add_flag("--json", *json, "Prints one JSON document");
  submit.callback([=, &action] { action = [=] { return Submit(*request, *client_id, *json); }; });
}

void AddChange(CLI::App& job, const std::string& name, const std::string& help,
               const Change& change, const std::shared_ptr<JobOptions>& options, Action& action) {
  CLI::App& verb = AddVerbOfJob(job, name, help, options);
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &change, &action] {
    action = [options, &change] { return Apply(change, *options); };
  });
}

void AddClone(CLI::App& job, const std::shared_ptr<JobOptions>& options, Action& action) {
  auto clone = std::make_shared<CloneOptions>();
  CLI::App& verb =
      AddVerbOfJob(job, "clone", "Starts a job with the kernels of another, ended or not", options);
  verb.add_option("--trials", clone->trials, "Trials a task, a total over all jobs ever")
      ->check(WholeNumber<int64_t>(1, tuner::kMostTrials));
  verb.add_option("--time", clone->time, "Ends the job after this time: 90s, 10m, 2h");
  verb.add_option("--seed", clone->seed, "Seed of the search")->check(WholeNumber<uint64_t>(0));
  verb.add_option("--priority", clone->priority, "As of `job submit`")
      ->check(WholeNumber(-tuner::kMostPriority, tuner::kMostPriority));
  verb.add_option("--client-id", clone->client_id, kClientIdHelp)->check(Utf8Text());
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([=, &action] { action = [=] { return Clone(*options, *clone); }; });
}

}  // namespace

void AddJob(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobOptions>();
  CLI::App& job = *app.add_subcommand("job", "Tuning jobs");
  job.require_subcommand(1);
  AddSubmit(job, action);
  CLI::App& list =
      AddJobVerb(job, "list", "Lists the jobs that have not ended, newest first", options);
  CLI::Option* all = list.add_flag("--all", options->all, "Lists those that have ended, too");
  list.add_option("--state", options->states, "Lists those in one of these states")
      ->delimiter(',')
      ->excludes(all)
      ->check(CLI::IsMember(States()));
  list.add_option("--submitter", options->submitter, "Lists those that this user asked for")
      ->check(Utf8Text());
  list.add_option("--target", options->target, "Lists those with this in their target's text")
      ->check(Utf8Text());
  list.add_option("--model", options->model, "Lists those with this in their models' names")
      ->check(Utf8Text());
  list.add_option("--since", options->since,
                  "Lists those that were submitted since: 90m, 2h, 7d ago, or a day, 2026-11-27");
  list.add_option("--limit", options->limit, "At most so many; 0 for all")
      ->check(WholeNumber<int64_t>(0))
      ->capture_default_str();
  list.add_flag("--json", options->json, "Prints one JSON document");
  list.callback([options, &action] { action = [options] { return ListJobs(*options); }; });
  CLI::App& show = AddVerbOfJob(job, "show", "Shows how a job stands, by kernel", options);
  show.add_flag("--json", options->json, "Prints one JSON document");
  show.callback([options, &action] { action = [options] { return ShowJob(*options); }; });
  CLI::App& watch =
      AddVerbOfJob(job, "watch", "Shows a job's progress until it has ended", options);
  watch.add_option("--after-seq", options->after_seq, "Leaves out the events up to this one")
      ->check(WholeNumber<int64_t>(0));
  watch.add_flag("--json", options->json, "Prints one JSON document when it has ended");
  watch.callback([options, &action] { action = [options] { return Watch(*options); }; });
  AddChange(job, "cancel", "Cancels a job; what was settled stays", kCancel, options, action);
  AddChange(job, "pause", "Puts a job aside until it is resumed", kPause, options, action);
  AddChange(job, "resume", "Goes on with a job that was paused", kResume, options, action);
  AddClone(job, options, action);
}

}  // namespace hone::cli
