// Prints the report of a compilation: for each kernel, where its config came from.
#ifndef HONE_CLI_COMPILE_REPORT_H_
#define HONE_CLI_COMPILE_REPORT_H_

#include <string>

#include "compiler/driver/compile.h"

namespace hone::cli {

// The report as a JSON document (schema 1).
std::string ReportJson(const driver::CompileReport& report);
// Prints the report on stdout; with `json`, as a JSON document (schema 1).
void PrintReport(const driver::CompileReport& report, bool json);

}  // namespace hone::cli

#endif  // HONE_CLI_COMPILE_REPORT_H_
