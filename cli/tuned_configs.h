// Makes the tuning database a source of configs.
#ifndef HONE_CLI_TUNED_CONFIGS_H_
#define HONE_CLI_TUNED_CONFIGS_H_

#include <memory>

#include "compiler/driver/config_source.h"
#include "tuning_db/store.h"

namespace hone::cli {

// Finds the configs of a task that tuning_db::Resolve finds, of tier "tuned", "tuning" or
// "compatible", and those that finals of models kept.
std::unique_ptr<driver::ConfigSource> MakeTunedConfigs(std::unique_ptr<tuning_db::Store> store);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNED_CONFIGS_H_
