#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// From when to when the records of a block of 1,024 ids are, so that a list by time begins where
// its first record may be; and all that statistics count, in one index. Nothing else asked for the
// index by time.
const char kLogQuestions[] = R"sql(
CREATE TABLE record_spans (
  block INTEGER PRIMARY KEY,
  first_ns INTEGER NOT NULL,
  last_ns INTEGER NOT NULL
) STRICT;
INSERT INTO record_spans SELECT id >> 10, MIN(wall_time_ns), MAX(wall_time_ns) FROM records
  GROUP BY id >> 10;
DROP INDEX records_of_time;
CREATE INDEX records_in_short ON records (task, device, purpose, outcome, job, wall_time_ns);
CREATE INDEX finals_of_record ON finals (record);
)sql";

}  // namespace hone::tuning_db::sqlite
