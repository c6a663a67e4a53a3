#include "cli/written_log.h"

#include <utility>

#include "cli/exit_code.h"
#include "cli/service_address.h"
#include "support/status.h"

namespace hone::cli {

absl::StatusOr<WrittenLog> WrittenLog::Open(const std::string& database, tuning_db::OpenMode mode) {
  WrittenLog log;
  auto store = tuning_db::OpenStore(database, mode);
  if (store.ok()) {
    log.store = *std::move(store);
    return log;
  }
  if (!tuning_db::IsHeld(database, store.status())) return store.status();
  HONE_ASSIGN_OR_RETURN(const std::string address, ServiceAddress("", database));
  if (address.empty()) return WithExitCode(store.status(), kBusy);
  log.client = std::make_unique<LogClient>(address);
  return log;
}

}  // namespace hone::cli
