// Upkeep of a tuning database: in its file, or through the service that holds it.
#ifndef HONE_CLI_LOG_UPKEEP_H_
#define HONE_CLI_LOG_UPKEEP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/prune.h"

namespace hone::cli {

// The error has exit code 7 if a private daemon, or a program that serves nobody, has the database.
absl::Status RetractRecord(const std::string& database, int64_t record, const std::string& reason);
absl::StatusOr<tuning_db::PruneTotals> PruneLog(const std::string& database,
                                                int64_t before_wall_ns);

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_UPKEEP_H_
