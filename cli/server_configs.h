// Makes a daemon's database a source of configs.
#ifndef HONE_CLI_SERVER_CONFIGS_H_
#define HONE_CLI_SERVER_CONFIGS_H_

#include <memory>
#include <string>

#include "compiler/driver/config_source.h"

namespace hone::cli {

// Whether a kernel takes the config that the final of its model kept, or always the winner of its
// own final.
enum class Verdicts { kOfModels, kOfKernels };

// Asks the daemon at `address` (as ReadServerAddress takes it) for the configs of all kernels of a
// model in one call. kUnavailable when it cannot be reached.
std::unique_ptr<driver::ConfigSource> MakeServerConfigs(const std::string& address,
                                                        Verdicts verdicts = Verdicts::kOfModels);

}  // namespace hone::cli

#endif  // HONE_CLI_SERVER_CONFIGS_H_
