// A daemon's database as a source of configs.
#ifndef HONE_CLI_SERVER_CONFIGS_H_
#define HONE_CLI_SERVER_CONFIGS_H_

#include <memory>
#include <string>

#include "cli/tuned_configs.h"
#include "compiler/driver/config_source.h"

namespace hone::cli {

// Asks the daemon at `address` ("unix:PATH") for each task. kUnavailable when it cannot be reached.
std::unique_ptr<driver::ConfigSource> MakeServerConfigs(const std::string& address,
                                                        Verdicts verdicts = Verdicts::kOfModels);

}  // namespace hone::cli

#endif  // HONE_CLI_SERVER_CONFIGS_H_
