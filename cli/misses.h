// Kernels that compiles found no tuned config for, and that `hone tune --misses` tunes.
#ifndef HONE_CLI_MISSES_H_
#define HONE_CLI_MISSES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/config_options.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/cpu_target.h"
#include "tuning_db/types.h"

namespace hone::cli {

// What the compile missed, where its configs came from: at the server that was named, else in the
// database, by the service that holds it or in the file, which is made where the default one is not
// there. Nothing is recorded where nothing was missed. kPermissionDenied of a server whose token
// may only read.
absl::Status RecordMisses(const driver::CompileReport& report, const std::string& model,
                          const ConfigOptions& place);

// Those of the target that are not tuned by now. `server` empty: of the database, which need not be
// there.
absl::StatusOr<std::vector<tuning_db::Miss>> ReadMisses(const std::string& server,
                                                        const std::string& database,
                                                        const std::string& target);

// A task for each kernel, however many models missed it, with as much weight as it was missed; what
// was missed most comes first. `unread` counts those that this release does not know: another wrote
// them.
struct MissedTasks {
  std::vector<driver::TuningTask> tasks;
  int unread = 0;
};
MissedTasks TasksOfMisses(const std::vector<tuning_db::Miss>& misses);

}  // namespace hone::cli

#endif  // HONE_CLI_MISSES_H_
