// Prints workers for `hone worker`, as text and as JSON.
#ifndef HONE_CLI_WORKER_REPORT_H_
#define HONE_CLI_WORKER_REPORT_H_

#include <vector>

#include "hone/v1/farm.pb.h"
#include "nlohmann/json.hpp"

namespace hone::cli {

nlohmann::json ToJson(const v1::WorkerInfo& worker);
nlohmann::json ToJson(const v1::Quarantine& quarantine);

// Prints a line for each; `of_gone` are quarantines of workers that are not connected.
void PrintWorkers(const std::vector<v1::WorkerInfo>& workers,
                  const std::vector<v1::Quarantine>& of_gone);
void PrintWorker(const v1::WorkerInfo& worker);

}  // namespace hone::cli

#endif  // HONE_CLI_WORKER_REPORT_H_
