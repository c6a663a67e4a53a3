#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Jobs know who asked for them, and may be paused. Who asked for those of before is unknown.
const char kJobsOfMany[] = R"sql(
CREATE TABLE new_jobs (
  id INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL,
  target TEXT NOT NULL,
  seed INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  deadline_ns INTEGER NOT NULL,
  search TEXT NOT NULL,
  submitter TEXT NOT NULL,
  owner TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 5),
  message TEXT NOT NULL,
  constant_bytes INTEGER NOT NULL,
  ran_ns INTEGER NOT NULL,
  ends_early INTEGER NOT NULL,
  elsewhere_ns REAL NOT NULL,
  private INTEGER NOT NULL CHECK (private IN (0, 1))
) STRICT;
INSERT INTO new_jobs SELECT id, client_id, model, target, seed, priority, deadline_ns, search, '',
    owner, epoch, state, message, constant_bytes, ran_ns, ends_early, elsewhere_ns, private
  FROM jobs ORDER BY id;
DROP TABLE jobs;
ALTER TABLE new_jobs RENAME TO jobs;
CREATE INDEX jobs_open ON jobs (id) WHERE state IN (0, 1, 5);
)sql";

}  // namespace hone::tuning_db::sqlite
