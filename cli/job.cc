// `hone job watch` and `hone job cancel`: jobs of a running honed.
#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/job_progress.h"
#include "cli/model_options.h"
#include "cli/tuning_client.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "support/clock.h"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

struct Options {
  int64_t job = 0;
  int64_t after_seq = 0;
  std::string database;
  std::string server;
  bool json = false;
};

// Of --server, or of the daemon that holds the database.
absl::StatusOr<std::string> AddressOf(const Options& options) {
  if (!options.server.empty()) return options.server;
  const std::string database = DatabasePath(options.database);
  HONE_ASSIGN_OR_RETURN(const std::string address, tuning_db::WriterOf(database));
  if (!address.empty()) return address;
  return absl::UnavailableError(fmt::format(
      "expected a running honed that holds {}, found none; name one with --server unix:PATH",
      database));
}

absl::Status Watch(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::string address, AddressOf(options));
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
  HONE_ASSIGN_OR_RETURN(const std::string address, AddressOf(options));
  TuningClient client(address);
  HONE_RETURN_IF_ERROR(client.Cancel(options.job).status());
  fmt::print("job {} is cancelled; what was settled stays\n", options.job);
  return absl::OkStatus();
}

CLI::App& AddVerb(CLI::App& job, const std::string& name, const std::string& help,
                  const std::shared_ptr<Options>& options) {
  CLI::App& verb = *job.add_subcommand(name, help);
  verb.add_option("JOB", options->job, "The job's number")->required()->check(CLI::PositiveNumber);
  CLI::Option* db =
      verb.add_option("--db", options->database, "The tuning database that its honed holds");
  verb.add_option("--server", options->server, "A running honed: unix:PATH")->excludes(db);
  return verb;
}

}  // namespace

void AddJob(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& job = *app.add_subcommand("job", "Watch and end tuning jobs of a running honed");
  job.require_subcommand(1);
  CLI::App& watch = AddVerb(job, "watch", "Shows a job's progress until it has ended", options);
  watch.add_option("--after-seq", options->after_seq, "Leaves out the events up to this one")
      ->check(CLI::NonNegativeNumber);
  watch.add_flag("--json", options->json, "Prints one JSON document when it has ended");
  watch.callback([options, &action] { action = [options] { return Watch(*options); }; });
  CLI::App& cancel = AddVerb(job, "cancel", "Cancels a job; what was settled stays", options);
  cancel.callback([options, &action] { action = [options] { return Cancel(*options); }; });
}

}  // namespace hone::cli
