// `hone log stats`, which counts what was measured.
#ifndef HONE_CLI_LOG_STATS_H_
#define HONE_CLI_LOG_STATS_H_

#include "cli/row_writer.h"
#include "hone/v1/log.pb.h"

namespace hone::cli {

void PrintStats(const v1::GetLogStatsResponse& stats, Format format);

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_STATS_H_
