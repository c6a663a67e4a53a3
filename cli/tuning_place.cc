#include "cli/tuning_place.h"

#include <string>
#include <utility>

#include "cli/device_here.h"
#include "cli/exit_code.h"
#include "cli/job_progress.h"
#include "fmt/format.h"
#include "runtime/target_text.h"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

// Empty: none does.
std::string ServiceThatHolds(const std::string& database) {
  const auto writer = tuning_db::WriterOf(database);
  return writer.ok() && *writer && IsService(**writer) ? (*writer)->address : "";
}

void SayWaiting(const std::string& database) {
  const auto writer = tuning_db::WriterOf(database);
  const bool is_known = writer.ok() && writer->has_value();
  fmt::print(stderr,
             "the tuning database {} is in use by {}: waiting until that has ended; Ctrl-C ends "
             "the waiting\n",
             database, Describe(is_known ? **writer : tuning_db::Writer()));
}

}  // namespace

absl::StatusOr<TuningPlace> FindTuningPlace(const TuningRequest& request, const Target& target) {
  TuningPlace place;
  place.address = request.server;
  if (!place.address.empty()) return place;
  const std::string database = DatabasePath(request.database);
  if (tuning_db::IsPostgresAddress(database)) {
    return WithExitCode(
        absl::InvalidArgumentError(fmt::format(
            "expected --server with the address of a honed that runs on {}: a database of many "
            "daemons is worked on by services only; start one with honed --db",
            database)),
        kUsage);
  }
  LocalFarm::Options options;
  options.database = database;
  options.stop = [] { return Interrupts() > 0; };
  options.on_wait = [&] {
    place.has_waited = true;
    SayWaiting(database);
  };
  options.on_slow_start = [&] {
    fmt::print(stderr, "opening {}; one of an older version is brought up to date first\n",
               database);
  };
  place.address = ServiceThatHolds(database);
  if (!place.address.empty()) return place;
  // No worker that this verb starts could ever measure for another machine.
  HONE_ASSIGN_OR_RETURN(const std::string device, DeviceHere(target));
  options.threads = ThreadsOf(target.ToString());
  options.worker_flags = WorkerFlags(device, target);
  absl::StatusOr<std::unique_ptr<LocalFarm>> farm = LocalFarm::Start(options);
  if (farm.ok()) {
    place.farm = *std::move(farm);
    place.address = place.farm->address();
    return place;
  }
  if (absl::IsCancelled(farm.status())) return WithExitCode(farm.status(), kInterrupted);
  // A service may have been faster.
  place.address = ServiceThatHolds(database);
  if (place.address.empty()) return farm.status();
  return place;
}

}  // namespace hone::cli
