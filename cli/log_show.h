// `hone log show`: one measurement, with all that repeats it.
#ifndef HONE_CLI_LOG_SHOW_H_
#define HONE_CLI_LOG_SHOW_H_

#include "cli/row_writer.h"
#include "hone/v1/log.pb.h"
#include "nlohmann/json.hpp"

namespace hone::cli {

// `repeated`: what came of repeating it, as fields beside the record's; empty: it was not.
void PrintRecord(const v1::GetRecordResponse& record, Format format,
                 const nlohmann::json& repeated = nlohmann::json::object());

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_SHOW_H_
