// `hone log show`, which prints one measurement with all that is needed to repeat it.
#ifndef HONE_CLI_LOG_SHOW_H_
#define HONE_CLI_LOG_SHOW_H_

#include "cli/row_writer.h"
#include "hone/v1/log.pb.h"
#include "nlohmann/json.hpp"

namespace hone::cli {

// `repeated` has the results of repeating the measurement, as fields beside the record's; empty if
// it was not repeated.
void PrintRecord(const v1::GetRecordResponse& record, Format format,
                 const nlohmann::json& repeated = nlohmann::json::object());

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_SHOW_H_
