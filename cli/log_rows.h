// The rows of the log as JSON: the fields of docs/cli.md.
#ifndef HONE_CLI_LOG_ROWS_H_
#define HONE_CLI_LOG_ROWS_H_

#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"
#include "nlohmann/json.hpp"

namespace hone::cli {

nlohmann::json ToJson(const v1::RecordInfo& record);
// With all that it takes to repeat it.
nlohmann::json ToJson(const v1::GetRecordResponse& record);
// kInternal for one without its winner or its default.
absl::StatusOr<nlohmann::json> ToJson(const v1::FinalInfo& final);
// Without its lists.
nlohmann::json TotalsToJson(const v1::GetLogStatsResponse& stats);

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_ROWS_H_
