// Writes rows of the log as JSON with the fields of docs/cli.md.
#ifndef HONE_CLI_LOG_ROWS_H_
#define HONE_CLI_LOG_ROWS_H_

#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"
#include "nlohmann/json.hpp"

namespace hone::cli {

nlohmann::json ToJson(const v1::RecordInfo& record);
// Includes all that is needed to repeat the measurement.
nlohmann::json ToJson(const v1::GetRecordResponse& record);
// kInternal for a final without its winner or its default.
absl::StatusOr<nlohmann::json> ToJson(const v1::FinalInfo& final);
// The statistics without their lists.
nlohmann::json TotalsToJson(const v1::GetLogStatsResponse& stats);

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_ROWS_H_
