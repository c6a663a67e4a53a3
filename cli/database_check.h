// Whether the tuning database can be used.
#ifndef HONE_CLI_DATABASE_CHECK_H_
#define HONE_CLI_DATABASE_CHECK_H_

#include <cstdint>
#include <string>

#include "cli/finding.h"

namespace hone::cli {

// Opens it for reading, reads a little of it, and looks at the room on its disk. `free_bytes`: what
// to take for that room; negative: what the system says.
Findings CheckDatabase(const std::string& database, int64_t free_bytes = -1);

}  // namespace hone::cli

#endif  // HONE_CLI_DATABASE_CHECK_H_
