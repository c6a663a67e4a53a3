#include "cli/local_farm.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "support/clock.h"
#include "support/status.h"
#include "tuning_db/end_jobs.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

constexpr int64_t kSlowStartNs = 5 * kSecondNs;
constexpr int64_t kStopGraceNs = 5 * kSecondNs;
constexpr int64_t kStopIntervalNs = kSecondNs / 10;

// What a daemon that was killed could not do. Where somebody has the database by now, that one has
// done it.
void EndJobsOfTheDead(const std::string& database) {
  const auto store = tuning_db::OpenSqliteStore(database, tuning_db::OpenMode::kReadWrite);
  if (store.ok()) tuning_db::EndPrivateJobs(**store).status().IgnoreError();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalFarm>> LocalFarm::Start(const Options& options) {
  auto farm = std::unique_ptr<LocalFarm>(new LocalFarm(options.database));
  // The socket's folder: the daemon removes it, too, for this process may be killed at any moment.
  HONE_ASSIGN_OR_RETURN(farm->folder_, ScratchFolder::MakeForNow("hone-tune-"));
  const std::string socket = farm->folder_->path() + "/socket";
  farm->address_ = "unix:" + socket;
  const std::string bin = ExecutableFolder();
  const std::string self = std::to_string(getpid());

  HONE_ASSIGN_OR_RETURN(
      ChildProcess daemon,
      ChildProcess::Start({bin + "/honed", "--embedded", "--db", options.database, "--socket",
                           socket, "--parent-death-signal", "--parent", self, "--local-threads",
                           std::to_string(options.threads)}));
  farm->daemon_ = std::make_unique<ChildProcess>(std::move(daemon));
  HONE_RETURN_IF_ERROR(farm->AwaitReady(options));
  std::vector<std::string> command = {bin + "/hone-measure",   "--server", farm->address_,
                                      "--parent-death-signal", "--parent", self};
  command.insert(command.end(), options.worker_flags.begin(), options.worker_flags.end());
  HONE_ASSIGN_OR_RETURN(ChildProcess worker, ChildProcess::Start(command));
  farm->worker_ = std::make_unique<ChildProcess>(std::move(worker));
  return farm;
}

absl::Status LocalFarm::AwaitReady(const Options& options) {
  // A daemon that lives and says nothing is opening its database: a large one of an older version
  // takes minutes to migrate. One that cannot start ends.
  const int64_t slow_from_ns = Clock::Real().NowNs() + kSlowStartNs;
  bool has_said = false;
  while (true) {
    if (options.stop()) return absl::CancelledError("interrupted before anything was measured");
    const absl::StatusOr<std::string> line = daemon_->ReadLine(kStopIntervalNs);
    if (absl::IsDeadlineExceeded(line.status())) {
      if (!has_said && Clock::Real().NowNs() > slow_from_ns) {
        options.on_slow_start();
        has_said = true;
      }
      continue;
    }
    if (!line.ok()) break;
    if (*line != "waiting") return absl::OkStatus();
    options.on_wait();
    has_said = true;
  }
  const int status = daemon_->Stop(kStopGraceNs);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(kFailed);
  return WithExitCode(
      absl::FailedPreconditionError("the local daemon did not start; its own message is above"),
      static_cast<ExitCode>(code == 0 ? kFailed : code));
}

absl::Status LocalFarm::CheckAlive() {
  if (daemon_->HasEnded())
    return absl::UnavailableError("the local daemon (honed) ended; its own message is above");
  if (worker_->HasEnded()) {
    return absl::UnavailableError(
        "the local worker (hone-measure) ended; its own message is above");
  }
  return absl::OkStatus();
}

LocalFarm::~LocalFarm() {
  if (worker_) worker_->Stop(kStopGraceNs);
  const bool has_served = worker_ != nullptr;
  const int status = daemon_ ? daemon_->Stop(kStopGraceNs) : 0;
  const bool ended_itself = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (has_served && !ended_itself) EndJobsOfTheDead(database_);
}

}  // namespace hone::cli
