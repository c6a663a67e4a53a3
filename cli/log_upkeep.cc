#include "cli/log_upkeep.h"

#include "cli/log_client.h"
#include "cli/written_log.h"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

// Runs `here` on the store of the file, or `there` at the service that holds it.
template <typename Here, typename There>
auto Wherever(const std::string& database, const Here& here, const There& there)
    -> decltype(here(std::declval<tuning_db::Store&>())) {
  HONE_ASSIGN_OR_RETURN(WrittenLog log,
                        WrittenLog::Open(database, tuning_db::OpenMode::kReadWrite));
  return log.store != nullptr ? here(*log.store) : there(*log.client);
}

}  // namespace

absl::Status RetractRecord(const std::string& database, int64_t record, const std::string& reason) {
  return Wherever(
      database, [&](tuning_db::Store& store) { return store.Retract(record, reason); },
      [&](LogClient& client) { return client.Retract(record, reason); });
}

absl::StatusOr<tuning_db::PruneTotals> PruneLog(const std::string& database,
                                                int64_t before_wall_ns) {
  return Wherever(
      database, [&](tuning_db::Store& store) { return tuning_db::PruneAll(store, before_wall_ns); },
      [&](LogClient& client) {
        return tuning_db::PruneAll([&](const tuning_db::PrunePlace& place) {
          return client.Prune(before_wall_ns, place);
        });
      });
}

}  // namespace hone::cli
