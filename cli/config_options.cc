#include "cli/config_options.h"

#include "CLI/CLI.hpp"
#include "cli/model_options.h"
#include "cli/server_configs.h"
#include "cli/service_address.h"
#include "support/status.h"

namespace hone::cli {

void ConfigOptions::AddTo(CLI::App& verb, const std::string& of_database) {
  CLI::Option* db = verb.add_option("--db", database, of_database);
  verb.add_option("--server", server,
                  "A running honed that has the configs: unix:PATH, a join string, or @FILE with "
                  "one")
      ->excludes(db);
}

absl::StatusOr<driver::ConfigChain> ConfigOptions::Open() const {
  HONE_ASSIGN_OR_RETURN(const std::string named, NamedServer(server, database));
  if (named.empty()) return ConfigsFrom(DatabasePath(database), /*must_exist=*/!database.empty());
  driver::ConfigChain configs;
  configs.Add(MakeServerConfigs(named));
  return configs;
}

}  // namespace hone::cli
