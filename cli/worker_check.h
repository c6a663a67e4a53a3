// Checks for `hone doctor` what hone-measure would offer on this machine.
#ifndef HONE_CLI_WORKER_CHECK_H_
#define HONE_CLI_WORKER_CHECK_H_

#include <cstdint>
#include <string>

#include "cli/finding.h"

namespace hone::cli {

// Has `program` (hone-measure) describe itself, and waits at most `limit_ns` for that.
Findings CheckWorkerProgram(const std::string& program, int64_t limit_ns);

// What a line of `hone-measure --describe` says.
Findings ReadDescription(const std::string& line);

}  // namespace hone::cli

#endif  // HONE_CLI_WORKER_CHECK_H_
