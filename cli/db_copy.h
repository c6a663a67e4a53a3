// `hone db copy`, which copies a whole database to another place.
#ifndef HONE_CLI_DB_COPY_H_
#define HONE_CLI_DB_COPY_H_

#include "cli/verb.h"

namespace hone::cli {

void AddDbCopy(CLI::App& db, Action& action);

}  // namespace hone::cli

#endif  // HONE_CLI_DB_COPY_H_
