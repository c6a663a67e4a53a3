// Checks for `hone doctor` whether a honed answers, and how its farm does.
#ifndef HONE_CLI_SERVER_CHECK_H_
#define HONE_CLI_SERVER_CHECK_H_

#include <cstdint>
#include <string>

#include "cli/finding.h"
#include "hone/v1/auth.pb.h"
#include "hone/v1/farm.pb.h"

namespace hone::cli {

// Asks the daemon at `address` (as ReadServerAddress takes it), and waits a few seconds at most for
// each answer.
Findings CheckServer(const std::string& address);

// What the daemon's answers say. `now_ns` is this machine's wall clock in the middle of the call.
Findings ReadWhoAmI(const v1::WhoAmIResponse& answer, int64_t now_ns);
Findings ReadWorkers(const v1::ListWorkersResponse& answer);

}  // namespace hone::cli

#endif  // HONE_CLI_SERVER_CHECK_H_
