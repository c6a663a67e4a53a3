// `hone log list` and `hone log best`, which print what was measured, and what won.
#ifndef HONE_CLI_LOG_LIST_H_
#define HONE_CLI_LOG_LIST_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/log_source.h"
#include "cli/row_writer.h"

namespace hone::cli {

// Which part of a list is printed.
struct LogPages {
  int64_t limit = 50;  // at most so many rows; 0: all
  std::string after;   // where an earlier call ended, as it said
};

// `request` has the filter and the order; these functions set its pages.
absl::Status PrintRecords(LogSource& log, v1::ListRecordsRequest request, const LogPages& pages,
                          Format format);
absl::Status PrintFinals(LogSource& log, v1::ListFinalsRequest request, const LogPages& pages,
                         Format format);

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_LIST_H_
