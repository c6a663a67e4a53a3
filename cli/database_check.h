// Checks for `hone doctor` whether the tuning database can be used.
#ifndef HONE_CLI_DATABASE_CHECK_H_
#define HONE_CLI_DATABASE_CHECK_H_

#include <cstdint>
#include <string>

#include "cli/finding.h"

namespace hone::cli {

// Opens the database for reading, reads a little of it, and looks at the free space on its disk. A
// `free_bytes` that is not negative stands for that space.
Findings CheckDatabase(const std::string& database, int64_t free_bytes = -1);

}  // namespace hone::cli

#endif  // HONE_CLI_DATABASE_CHECK_H_
