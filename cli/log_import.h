// `hone log import` and `hone log merge`, which add what was measured elsewhere.
#ifndef HONE_CLI_LOG_IMPORT_H_
#define HONE_CLI_LOG_IMPORT_H_

#include "cli/verb.h"

namespace hone::cli {

void AddLogImport(CLI::App& log, Action& action);
void AddLogMerge(CLI::App& log, Action& action);

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_IMPORT_H_
