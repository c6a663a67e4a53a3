#include "tuning_db/sqlite/schema.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "support/crash_point.h"
#include "support/status.h"
#include "tuning_db/sqlite/canonical_configs.h"
#include "tuning_db/sqlite/progress_rows.h"

namespace hone::tuning_db::sqlite {
namespace {

// Migrations are history: never change one that was released, add the next.
//
// 1. What a tuning service keeps. Long texts stand once, in `texts`.
constexpr char kFirst[] = R"sql(
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

// 2. What compiles looked for in vain.
constexpr char kMisses[] = R"sql(
CREATE TABLE misses (
  id INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES texts,
  workload_digest TEXT NOT NULL,
  signature INTEGER NOT NULL REFERENCES texts,
  target INTEGER NOT NULL REFERENCES texts,
  tier TEXT NOT NULL,
  model TEXT NOT NULL,
  count INTEGER NOT NULL,
  UNIQUE (workload_digest, signature, target, model)
) STRICT;
)sql";

// 3. What decides how a job's kernels are timed, and how long it ran over all its daemons.
constexpr char kJobFigures[] = R"sql(
ALTER TABLE jobs ADD COLUMN constant_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN ran_ns INTEGER NOT NULL DEFAULT 0;
)sql";

// 5. What whole models were timed to.
constexpr char kModelFinals[] = R"sql(
CREATE TABLE model_finals (
  id INTEGER PRIMARY KEY,
  skeleton TEXT NOT NULL,
  target INTEGER NOT NULL REFERENCES texts,
  model TEXT NOT NULL,
  signatures INTEGER NOT NULL REFERENCES texts,
  compared TEXT NOT NULL,
  rounds INTEGER NOT NULL,
  default_ns REAL NOT NULL,
  tuned_ns REAL NOT NULL,
  ratio REAL NOT NULL,
  ratio_low REAL NOT NULL,
  ratio_high REAL NOT NULL,
  wall_time_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX model_finals_of_skeleton ON model_finals (skeleton, target, id);

CREATE TABLE model_final_kernels (
  final INTEGER NOT NULL REFERENCES model_finals,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  workload_digest TEXT NOT NULL,
  signature INTEGER NOT NULL REFERENCES texts,
  calls INTEGER NOT NULL,
  winner INTEGER NOT NULL REFERENCES texts,
  kept INTEGER NOT NULL REFERENCES texts,
  kept_nest_digest TEXT NOT NULL,
  default_ns REAL NOT NULL,
  winner_ns REAL NOT NULL,
  ratio REAL NOT NULL,
  ratio_low REAL NOT NULL,
  ratio_high REAL NOT NULL,
  PRIMARY KEY (final, position)
) STRICT, WITHOUT ROWID;
)sql";

// 6. Searches that end before their budget (decision 0016).
constexpr char kEarlyEnds[] = R"sql(
ALTER TABLE jobs ADD COLUMN ends_early INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN elsewhere_ns REAL NOT NULL DEFAULT 0;
ALTER TABLE finals ADD COLUMN ended_share REAL NOT NULL DEFAULT 0;
)sql";

// 7. Which jobs end with their daemon's client. Before, an embedded daemon's socket alone told: it
// was in a folder that mkdtemp had named (decision 0014).
constexpr char kPrivateJobs[] = R"sql(
ALTER TABLE jobs ADD COLUMN private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1));
UPDATE jobs SET private = 1 WHERE owner GLOB
  'unix:*/hone-[A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9]/socket';
)sql";

// 8. What a daemon that comes back must know of its predecessor's farm (decision 0021): leases with
// device and limit, strikes, rests of devices, and who owns jobs.
constexpr char kFarmState[] = R"sql(
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

// 9. A farm's log: digests as bytes, texts found by a key, events that refer to their record
// instead of telling it again, and an index for each thing that the log is asked by. Records carry
// what never changes of their trials, so that these indices are in the order of commits. Progress
// is kept by who settles.
constexpr char kFarmLog[] = R"sql(
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

// One step of the history: statements, then what SQL cannot say.
struct Migration {
  const char* statements;
  absl::Status (*then)(Connection& db) = nullptr;
};

// 4. Configs had been stored in the order in which code set their knobs.
constexpr std::array kMigrations = {
    Migration{kFirst},
    Migration{kMisses},
    Migration{kJobFigures},
    Migration{"", CanonicaliseConfigs},
    Migration{kModelFinals},
    Migration{kEarlyEnds},
    Migration{kPrivateJobs},
    Migration{kFarmState},
    Migration{kFarmLog, CountAllProgress},
};

absl::Status CheckReferences(Connection& db) {
  HONE_ASSIGN_OR_RETURN(Statement check, db.Prepare("PRAGMA foreign_key_check"));
  HONE_ASSIGN_OR_RETURN(const bool has_row, check.Step());
  if (!has_row) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("row {} of {} refers to a row of {} that is not there; restore a backup",
                  check.Integer(1), check.Text(0), check.Text(2)));
}

absl::Status RunMigration(Connection& db, int version) {
  const auto point = [&](const char* when) {
    CrashPoint(fmt::format("migration.{}.{}", version, when));
  };
  point("before");
  // A table that is made anew would take what refers to it along; what refers to nothing is found
  // before the commit.
  HONE_RETURN_IF_ERROR(db.Execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE"));
  const Migration& migration = kMigrations[static_cast<size_t>(version - 1)];
  absl::Status status = db.Execute(migration.statements);
  if (status.ok() && migration.then != nullptr) status = migration.then(db);
  if (status.ok()) status = CheckReferences(db);
  if (status.ok()) status = db.Execute(fmt::format("PRAGMA user_version = {}", version));
  point("before_commit");
  if (status.ok()) status = db.Execute("COMMIT");
  if (!status.ok() && db.IsInTransaction()) db.Execute("ROLLBACK").IgnoreError();
  point("after_commit");
  HONE_RETURN_IF_ERROR(status);
  return db.Execute("PRAGMA foreign_keys = ON");
}

}  // namespace

int NewestVersion() { return static_cast<int>(kMigrations.size()); }

absl::StatusOr<int> VersionOf(Connection& db) {
  HONE_ASSIGN_OR_RETURN(const auto version, db.Integer("PRAGMA user_version"));
  return static_cast<int>(version.value_or(0));
}

absl::Status Migrate(Connection& db, int version) {
  HONE_ASSIGN_OR_RETURN(const int found, VersionOf(db));
  if (found < kChecksumVersion && version >= kChecksumVersion) {
    HONE_RETURN_IF_ERROR(db.ReserveChecksums());
  }
  for (int next = found + 1; next <= version; ++next) HONE_RETURN_IF_ERROR(RunMigration(db, next));
  return absl::OkStatus();
}

}  // namespace hone::tuning_db::sqlite
