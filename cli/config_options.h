// Where a verb that compiles finds tuned configs.
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

  // --db, whose help is `of_database`, and --server.
  void AddTo(CLI::App& verb, const std::string& of_database = "The tuning database");
  // Those of the server that is named (NamedServer), else of the database: none where it is the
  // default one and not there. A server is asked later, and kUnavailable then.
  absl::StatusOr<driver::ConfigChain> Open() const;
};

}  // namespace hone::cli

#endif  // HONE_CLI_CONFIG_OPTIONS_H_
