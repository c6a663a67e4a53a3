#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// What a tuning service keeps. Long texts stand once, in `texts`.
const char kFirst[] = R"sql(
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('fence', 0);

CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES texts,
  workload_digest TEXT NOT NULL,
  anchor_digest TEXT NOT NULL,
  target INTEGER NOT NULL REFERENCES texts,
  UNIQUE (workload_digest, target)
) STRICT;

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL,
  target TEXT NOT NULL,
  seed INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  deadline_ns INTEGER NOT NULL,
  search TEXT NOT NULL,
  owner TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
  message TEXT NOT NULL
) STRICT;

CREATE TABLE job_tasks (
  job INTEGER NOT NULL REFERENCES jobs,
  position INTEGER NOT NULL,
  task INTEGER NOT NULL REFERENCES tasks,
  signature INTEGER NOT NULL REFERENCES texts,
  name TEXT NOT NULL,
  weight REAL,
  trials INTEGER NOT NULL,
  PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  job INTEGER NOT NULL REFERENCES jobs,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  wall_time_ns INTEGER NOT NULL,
  PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks,
  signature INTEGER NOT NULL REFERENCES texts,
  config INTEGER NOT NULL REFERENCES texts,
  config_digest TEXT NOT NULL,
  nest_digest TEXT NOT NULL,
  purpose INTEGER NOT NULL CHECK (purpose BETWEEN 0 AND 3),
  round INTEGER NOT NULL,
  job INTEGER REFERENCES jobs,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
  attempt INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  worker TEXT NOT NULL,
  UNIQUE (task, signature, purpose, config_digest, round)
) STRICT;
CREATE INDEX trials_of_job ON trials (job, id);
CREATE INDEX trials_open ON trials (id) WHERE state < 2;
CREATE UNIQUE INDEX trials_fence ON trials (fence) WHERE fence > 0;

CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL UNIQUE REFERENCES trials,
  outcome INTEGER NOT NULL,
  message TEXT NOT NULL,
  samples_ns BLOB NOT NULL,
  median_ns REAL,
  calibrator_ns REAL,
  anchor_ns REAL,
  error_ratio REAL,
  artifact_digest TEXT NOT NULL,
  toolchain INTEGER NOT NULL REFERENCES texts,
  device INTEGER NOT NULL REFERENCES texts,
  regime TEXT NOT NULL,
  worker TEXT NOT NULL,
  wall_time_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE finals (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks,
  signature INTEGER NOT NULL REFERENCES texts,
  job INTEGER REFERENCES jobs,
  distinct_trials INTEGER NOT NULL,
  space_size INTEGER NOT NULL,
  winner INTEGER NOT NULL,
  default_entry INTEGER NOT NULL,
  toolchain INTEGER NOT NULL REFERENCES texts,
  device INTEGER NOT NULL REFERENCES texts,
  wall_time_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX finals_of_task ON finals (task, signature, id);

CREATE TABLE final_entries (
  final INTEGER NOT NULL REFERENCES finals,
  position INTEGER NOT NULL,
  config INTEGER NOT NULL REFERENCES texts,
  nest_digest TEXT NOT NULL,
  artifact_digest TEXT NOT NULL,
  round_ns BLOB NOT NULL,
  median_ns REAL,
  ratio_to_default REAL,
  PRIMARY KEY (final, position)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER records_are_never_changed BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER records_are_never_deleted BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
)sql";

}  // namespace hone::tuning_db::sqlite
