#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Which record a final came of: the one that was settled with it, which has its time and device.
// Finals that were imported have none.
const char kRecordsOfFinals[] = R"sql(
ALTER TABLE finals ADD COLUMN record bigint REFERENCES records;
UPDATE finals f SET record = (SELECT MAX(r.id) FROM records r WHERE r.task = f.task AND
  r.signature = f.signature AND r.purpose = 1 AND r.outcome = 0 AND
  r.device = f.device AND r.wall_time_ns = f.wall_time_ns);
)sql";

}  // namespace hone::tuning_db::postgres
