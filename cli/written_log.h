// A tuning log that a verb writes: in its file, or through the service that holds it.
#ifndef HONE_CLI_WRITTEN_LOG_H_
#define HONE_CLI_WRITTEN_LOG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/log_client.h"
#include "tuning_db/store.h"

namespace hone::cli {

// Exactly one of the two is not null.
struct WrittenLog {
  std::unique_ptr<tuning_db::Store> store;
  std::unique_ptr<LogClient> client;

  // The error has exit code 7 if a private daemon, or a program that serves nobody, has the
  // database. Other errors are those of tuning_db::OpenStore.
  static absl::StatusOr<WrittenLog> Open(const std::string& database, tuning_db::OpenMode mode);
};

}  // namespace hone::cli

#endif  // HONE_CLI_WRITTEN_LOG_H_
