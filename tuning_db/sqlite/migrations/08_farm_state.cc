#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// What a daemon that comes back must know of its predecessor's farm (decision 0021): leases with
// device and limit, strikes, rests of devices, and who owns jobs.
const char kFarmState[] = R"sql(
ALTER TABLE trials ADD COLUMN strikes INTEGER NOT NULL DEFAULT 0;
CREATE TABLE leases (
  trial INTEGER PRIMARY KEY REFERENCES trials,
  device TEXT NOT NULL,
  limit_ns INTEGER NOT NULL
) STRICT;
INSERT INTO leases SELECT id, '', 0 FROM trials WHERE state = 1;

CREATE TABLE device_rests (
  worker TEXT NOT NULL,
  device TEXT NOT NULL,
  losses INTEGER NOT NULL,
  rests INTEGER NOT NULL,
  until_ns INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (worker, device)
) STRICT, WITHOUT ROWID;

CREATE TABLE lives (
  epoch INTEGER PRIMARY KEY,
  owner TEXT NOT NULL UNIQUE,
  until_ns INTEGER NOT NULL
) STRICT;
INSERT INTO counters SELECT 'epoch', MAX(1, COALESCE(MAX(epoch), 0)) FROM jobs;
)sql";

}  // namespace hone::tuning_db::sqlite
