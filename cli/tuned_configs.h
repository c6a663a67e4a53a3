// The tuning database as a source of configs.
#ifndef HONE_CLI_TUNED_CONFIGS_H_
#define HONE_CLI_TUNED_CONFIGS_H_

#include <memory>

#include "compiler/driver/config_source.h"
#include "tuning_db/store.h"

namespace hone::cli {

// Whether a kernel takes what the final of its model kept, or always the winner of its own.
enum class Verdicts { kOfModels, kOfKernels };

// Tiers "tuned" and "tuning" of the task itself.
std::unique_ptr<driver::ConfigSource> MakeTunedConfigs(std::unique_ptr<tuning_db::Store> store,
                                                       Verdicts verdicts = Verdicts::kOfModels);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNED_CONFIGS_H_
