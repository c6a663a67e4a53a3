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

// Records what the compile missed in the place where its configs came from: at the named server, or
// else in the database, through the service that holds it or in its file. The default database is
// made if it does not exist. Does nothing if nothing was missed. kPermissionDenied from a server
// whose token may only read.
absl::Status RecordMisses(const driver::CompileReport& report, const std::string& model,
                          const ConfigOptions& place);

// The misses of the target whose kernels are not tuned by now. If `server` is empty, those in the
// database; none if that is the default database and does not exist.
absl::StatusOr<std::vector<tuning_db::Miss>> ReadMisses(const std::string& server,
                                                        const std::string& database,
                                                        const std::string& target);

// Makes one task for each kernel, whatever the number of models that missed it. Its weight is how
// often it was missed, and the greatest comes first. `unread` counts the misses that this release
// cannot read, because another one wrote them.
struct MissedTasks {
  std::vector<driver::TuningTask> tasks;
  int unread = 0;
};
MissedTasks TasksOfMisses(const std::vector<tuning_db::Miss>& misses);

}  // namespace hone::cli

#endif  // HONE_CLI_MISSES_H_
