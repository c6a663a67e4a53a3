// The flags that say where a verb that compiles finds tuned configs.
#ifndef HONE_CLI_CONFIG_OPTIONS_H_
#define HONE_CLI_CONFIG_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/driver/config_source.h"

namespace CLI {
class App;
}

namespace hone::cli {

struct ConfigOptions {
  std::string database;
  std::string server;

  // Adds the flags --db, whose help is `of_database`, and --server.
  void AddTo(CLI::App& verb, const std::string& of_database = "The tuning database");
  // Returns the configs of the server that is named (NamedServer), or else of the database. There
  // are none if that is the default database and does not exist. A server is first asked when a
  // config is needed: kUnavailable comes then.
  absl::StatusOr<driver::ConfigChain> Open() const;
};

}  // namespace hone::cli

#endif  // HONE_CLI_CONFIG_OPTIONS_H_
