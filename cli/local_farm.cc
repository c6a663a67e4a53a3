#include "cli/local_farm.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "cli/exit_code.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::cli {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStartLimitNs = 30 * kSecondNs;
constexpr int64_t kStopGraceNs = 5 * kSecondNs;

// A folder only this user can enter, for the socket.
absl::StatusOr<std::string> MakePrivateFolder() {
  const char* base = std::getenv("XDG_RUNTIME_DIR");
  std::string pattern =
      fmt::format("{}/hone-XXXXXX", base != nullptr && *base != 0 ? base : "/tmp");
  if (mkdtemp(pattern.data()) == nullptr) {
    return absl::InternalError(
        fmt::format("expected to make a folder for the daemon's socket at {}: {}", pattern,
                    std::strerror(errno)));
  }
  return pattern;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalFarm>> LocalFarm::Start(const Options& options) {
  auto farm = std::unique_ptr<LocalFarm>(new LocalFarm);
  HONE_ASSIGN_OR_RETURN(farm->folder_, MakePrivateFolder());
  const std::string socket = farm->folder_ + "/socket";
  farm->address_ = "unix:" + socket;
  const std::string bin = ExecutableFolder();

  HONE_ASSIGN_OR_RETURN(ChildProcess daemon,
                        ChildProcess::Start({bin + "/honed", "--embedded", "--db", options.database,
                                             "--socket", socket, "--parent-death-signal",
                                             "--local-threads", std::to_string(options.threads)}));
  farm->daemon_ = std::make_unique<ChildProcess>(std::move(daemon));
  const absl::StatusOr<std::string> ready = farm->daemon_->ReadLine(kStartLimitNs);
  if (!ready.ok()) {
    const int status = farm->daemon_->Stop(kStopGraceNs);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(kFailed);
    return WithExitCode(
        absl::FailedPreconditionError("the local daemon did not start; its own message is above"),
        static_cast<ExitCode>(code == 0 ? kFailed : code));
  }
  HONE_ASSIGN_OR_RETURN(ChildProcess worker,
                        ChildProcess::Start({bin + "/hone-measure", "--server", farm->address_,
                                             "--threads", std::to_string(options.threads),
                                             "--target", options.target, "--parent-death-signal"}));
  farm->worker_ = std::make_unique<ChildProcess>(std::move(worker));
  return farm;
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
  if (daemon_) daemon_->Stop(kStopGraceNs);
  if (!folder_.empty()) {
    unlink((folder_ + "/socket").c_str());
    rmdir(folder_.c_str());
  }
}

}  // namespace hone::cli
