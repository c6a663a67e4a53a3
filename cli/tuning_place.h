// Finds where the jobs of a `hone tune` run: at a service, or on a farm of this process.
#ifndef HONE_CLI_TUNING_PLACE_H_
#define HONE_CLI_TUNING_PLACE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/local_farm.h"
#include "cli/tuning_request.h"

namespace hone::cli {

struct TuningPlace {
  std::string address;              // of the daemon
  std::unique_ptr<LocalFarm> farm;  // nullptr: a service's
  // Another tune had the database and may have changed it since the work was planned.
  bool has_waited = false;
};

// The service of --server; or else the one that holds the database; or else a farm of this process.
// While another tune has the database, this waits for it to end, and says so; an interrupt
// (CatchInterrupts) ends the waiting.
absl::StatusOr<TuningPlace> FindTuningPlace(const TuningRequest& request, const Target& target);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNING_PLACE_H_
