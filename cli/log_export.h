// `hone log export`, which writes the tuning log as lines that another database can import.
#ifndef HONE_CLI_LOG_EXPORT_H_
#define HONE_CLI_LOG_EXPORT_H_

#include "cli/verb.h"

namespace hone::cli {

void AddLogExport(CLI::App& log, Action& action);

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_EXPORT_H_
