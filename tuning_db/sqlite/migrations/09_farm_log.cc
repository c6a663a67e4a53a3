#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// A farm's log: digests as bytes, texts found by a key, events that refer to their record
// instead of telling it again, and an index for each thing that the log is asked by. Records carry
// what never changes of their trials, so that these indices are in the order of commits. Progress
// is kept by who settles.
const char kFarmLog[] = R"sql(
CREATE TABLE new_texts (
  id INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
INSERT INTO new_texts SELECT id, text_key(body), body FROM texts ORDER BY id;
INSERT INTO new_texts (key, body)
  SELECT text_key(body), body FROM
    (SELECT worker AS body FROM trials UNION SELECT worker FROM records UNION
     SELECT regime FROM records)
  WHERE body <> '' AND body NOT IN (SELECT body FROM texts);
DROP TABLE texts;
ALTER TABLE new_texts RENAME TO texts;
CREATE INDEX texts_by_key ON texts (key);

CREATE TABLE new_leases (
  trial INTEGER PRIMARY KEY REFERENCES trials,
  fence INTEGER NOT NULL UNIQUE,
  device TEXT NOT NULL,
  limit_ns INTEGER NOT NULL
) STRICT;
INSERT INTO new_leases SELECT l.trial, t.fence, l.device, l.limit_ns
  FROM leases l JOIN trials t ON t.id = l.trial;
DROP TABLE leases;
ALTER TABLE new_leases RENAME TO leases;

CREATE TABLE new_records (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL UNIQUE REFERENCES trials,
  task INTEGER NOT NULL REFERENCES tasks,
  signature INTEGER NOT NULL REFERENCES texts,
  purpose INTEGER NOT NULL,
  job INTEGER REFERENCES jobs,
  outcome INTEGER NOT NULL,
  message TEXT NOT NULL,
  samples_ns BLOB NOT NULL,
  median_ns REAL,
  calibrator_ns REAL,
  anchor_ns REAL,
  error_ratio REAL,
  artifact_digest ANY NOT NULL,
  toolchain INTEGER NOT NULL REFERENCES texts,
  device INTEGER NOT NULL REFERENCES texts,
  regime INTEGER REFERENCES texts,
  worker INTEGER REFERENCES texts,
  wall_time_ns INTEGER NOT NULL
) STRICT;
INSERT INTO new_records SELECT r.id, r.trial, t.task, t.signature, t.purpose, t.job, r.outcome,
    r.message, r.samples_ns, r.median_ns, r.calibrator_ns, r.anchor_ns, r.error_ratio,
    digest_blob(r.artifact_digest), r.toolchain, r.device,
    (SELECT id FROM texts WHERE r.regime <> '' AND key = text_key(r.regime) AND body = r.regime),
    (SELECT id FROM texts WHERE r.worker <> '' AND key = text_key(r.worker) AND body = r.worker), r.wall_time_ns
  FROM records r JOIN trials t ON t.id = r.trial ORDER BY r.id;

CREATE TABLE new_events (
  job INTEGER NOT NULL REFERENCES jobs,
  seq INTEGER NOT NULL,
  kind TEXT,
  payload TEXT,
  wall_time_ns INTEGER,
  record INTEGER REFERENCES records,
  CHECK ((record IS NULL) = (kind IS NOT NULL AND payload IS NOT NULL AND wall_time_ns IS NOT NULL)),
  PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO new_events
  SELECT e.job, e.seq, IIF(r.id IS NULL, e.kind, NULL), IIF(r.id IS NULL, e.payload, NULL),
    IIF(r.id IS NULL, e.wall_time_ns, NULL), r.id
  FROM events e LEFT JOIN records r ON e.kind = 'trial_settled' AND json_valid(e.payload) AND
    r.trial = json_extract(e.payload, '$.trial');
DROP TABLE events;
ALTER TABLE new_events RENAME TO events;

CREATE TABLE new_trials (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks,
  signature INTEGER NOT NULL REFERENCES texts,
  config INTEGER NOT NULL REFERENCES texts,
  nest_digest ANY NOT NULL,
  purpose INTEGER NOT NULL CHECK (purpose BETWEEN 0 AND 3),
  round INTEGER NOT NULL,
  job INTEGER REFERENCES jobs,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
  attempt INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  worker INTEGER REFERENCES texts,
  strikes INTEGER NOT NULL,
  UNIQUE (task, signature, purpose, config, round)
) STRICT;
INSERT INTO new_trials SELECT id, task, signature, config, digest_blob(nest_digest), purpose, round,
    job, state, attempt, fence,
    (SELECT id FROM texts WHERE trials.worker <> '' AND key = text_key(trials.worker) AND body = trials.worker), strikes
  FROM trials ORDER BY id;
DROP TABLE records;
DROP TABLE trials;
ALTER TABLE new_records RENAME TO records;
ALTER TABLE new_trials RENAME TO trials;
CREATE INDEX trials_open ON trials (job) WHERE state < 2;

CREATE INDEX records_of_task ON records (task);
CREATE INDEX records_of_job ON records (job);
CREATE INDEX records_of_purpose ON records (purpose) WHERE purpose <> 0;
CREATE INDEX records_of_outcome ON records (outcome) WHERE outcome <> 0;
CREATE INDEX records_of_device ON records (device);
CREATE INDEX records_of_time ON records (wall_time_ns);
CREATE INDEX jobs_open ON jobs (id) WHERE state < 2;
CREATE INDEX job_tasks_of_task ON job_tasks (task, signature);

CREATE TABLE retractions (
  record INTEGER PRIMARY KEY REFERENCES records,
  reason TEXT NOT NULL,
  wall_time_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE task_progress (
  task INTEGER NOT NULL REFERENCES tasks,
  signature INTEGER NOT NULL REFERENCES texts,
  trials INTEGER NOT NULL,
  first_trial INTEGER NOT NULL,
  default_ns REAL NOT NULL,
  best_ns REAL NOT NULL,
  PRIMARY KEY (task, signature)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_progress (
  job INTEGER NOT NULL REFERENCES jobs,
  task INTEGER NOT NULL REFERENCES tasks,
  signature INTEGER NOT NULL REFERENCES texts,
  trials INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  PRIMARY KEY (job, task, signature)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER records_are_never_deleted BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER records_are_never_changed BEFORE UPDATE OF id, trial, task, signature, purpose, job,
  outcome, message, median_ns, calibrator_ns, anchor_ns, error_ratio, artifact_digest, toolchain,
  device, regime, worker, wall_time_ns ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER samples_are_only_removed BEFORE UPDATE OF samples_ns ON records
WHEN LENGTH(new.samples_ns) > 0
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER last_events_are_never_deleted BEFORE DELETE ON events
WHEN old.seq = (SELECT MAX(seq) FROM events WHERE job = old.job)
BEGIN SELECT RAISE(ABORT, 'the last event of a job stays'); END;
)sql";

}  // namespace hone::tuning_db::sqlite
