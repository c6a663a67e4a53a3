#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Which record a final came of: the one that was settled with it, which has its time and device.
// Finals that were imported have none.
const char kRecordsOfFinals[] = R"sql(
ALTER TABLE finals ADD COLUMN record INTEGER REFERENCES records;
UPDATE finals SET record = (SELECT MAX(r.id) FROM records r WHERE r.task = finals.task AND
  r.signature = finals.signature AND r.purpose = 1 AND r.outcome = 0 AND
  r.device = finals.device AND r.wall_time_ns = finals.wall_time_ns);
)sql";

}  // namespace hone::tuning_db::sqlite
