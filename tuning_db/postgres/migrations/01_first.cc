#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// What SQLite's ninth version keeps. Texts stand once; digests, messages (any bytes) and figures of
// many rounds are bytes. The next id of a table is the greatest one and 1, which is given under the
// lock of writers, and so in the order of commits and without gaps; a sequence's would not be.
const char kFirst[] = R"sql(
CREATE TABLE writers (
  id bigint PRIMARY KEY,
  batch bigint NOT NULL,
  written_at timestamptz NOT NULL
);

CREATE TABLE texts (
  id bigint PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  body text NOT NULL,
  CHECK (digest = sha256(convert_to(body, 'UTF8')))
);

CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL);
INSERT INTO counters VALUES ('fence', 0), ('epoch', 1);

CREATE TABLE lives (
  epoch bigint PRIMARY KEY,
  owner text NOT NULL UNIQUE,
  until timestamptz NOT NULL
);

CREATE TABLE tasks (
  id bigint PRIMARY KEY,
  workload bigint NOT NULL REFERENCES texts,
  workload_digest bytea NOT NULL,
  anchor_digest bytea NOT NULL,
  target bigint NOT NULL REFERENCES texts,
  UNIQUE (workload_digest, target)
);

CREATE TABLE jobs (
  id bigint PRIMARY KEY,
  client_id text NOT NULL UNIQUE,
  model text NOT NULL,
  target text NOT NULL,
  seed bigint NOT NULL,
  priority integer NOT NULL,
  deadline_ns bigint NOT NULL,
  search text NOT NULL,
  constant_bytes bigint NOT NULL,
  ends_early boolean NOT NULL,
  elsewhere_ns double precision NOT NULL,
  ran_ns bigint NOT NULL DEFAULT 0,
  owner text NOT NULL,
  epoch bigint NOT NULL,
  private boolean NOT NULL,
  state smallint NOT NULL CHECK (state BETWEEN 0 AND 4),
  message bytea NOT NULL
);
CREATE INDEX jobs_open ON jobs (id) WHERE state < 2;

CREATE TABLE job_tasks (
  job bigint NOT NULL REFERENCES jobs,
  position integer NOT NULL,
  task bigint NOT NULL REFERENCES tasks,
  signature bigint NOT NULL REFERENCES texts,
  name text NOT NULL,
  weight double precision,
  trials bigint NOT NULL,
  PRIMARY KEY (job, position)
);
CREATE INDEX job_tasks_of_task ON job_tasks (task, signature);

CREATE TABLE trials (
  id bigint PRIMARY KEY,
  task bigint NOT NULL REFERENCES tasks,
  signature bigint NOT NULL REFERENCES texts,
  config bigint NOT NULL REFERENCES texts,
  nest_digest bytea NOT NULL,
  purpose smallint NOT NULL CHECK (purpose BETWEEN 0 AND 3),
  round bigint NOT NULL,
  job bigint REFERENCES jobs,
  state smallint NOT NULL CHECK (state BETWEEN 0 AND 2),
  attempt bigint NOT NULL,
  fence bigint NOT NULL,
  worker bigint REFERENCES texts,
  strikes bigint NOT NULL,
  UNIQUE (task, signature, purpose, config, round)
);
CREATE INDEX trials_open ON trials (job, id) WHERE state < 2;

CREATE TABLE leases (
  trial bigint PRIMARY KEY REFERENCES trials,
  fence bigint NOT NULL UNIQUE,
  device text NOT NULL,
  limit_ns bigint NOT NULL
);

CREATE TABLE device_rests (
  worker text NOT NULL,
  device text NOT NULL,
  losses bigint NOT NULL,
  rests bigint NOT NULL,
  until timestamptz NOT NULL,
  reason text NOT NULL,
  PRIMARY KEY (worker, device)
);

CREATE TABLE records (
  id bigint PRIMARY KEY,
  trial bigint NOT NULL UNIQUE REFERENCES trials,
  task bigint NOT NULL REFERENCES tasks,
  signature bigint NOT NULL REFERENCES texts,
  purpose smallint NOT NULL,
  job bigint REFERENCES jobs,
  outcome smallint NOT NULL,
  message bytea NOT NULL,
  samples_ns bytea NOT NULL,
  median_ns double precision,
  calibrator_ns double precision,
  anchor_ns double precision,
  error_ratio double precision,
  artifact_digest bytea NOT NULL,
  toolchain bigint NOT NULL REFERENCES texts,
  device bigint NOT NULL REFERENCES texts,
  regime bigint REFERENCES texts,
  worker bigint REFERENCES texts,
  wall_time_ns bigint NOT NULL
);
CREATE INDEX records_of_task ON records (task, id);
CREATE INDEX records_of_job ON records (job, id);
CREATE INDEX records_of_purpose ON records (purpose, id) WHERE purpose <> 0;
CREATE INDEX records_of_outcome ON records (outcome, id) WHERE outcome <> 0;
CREATE INDEX records_of_device ON records (device, id);
CREATE INDEX records_of_time ON records (wall_time_ns);

CREATE TABLE retractions (
  record bigint PRIMARY KEY REFERENCES records,
  reason text NOT NULL,
  wall_time_ns bigint NOT NULL
);

CREATE TABLE events (
  job bigint NOT NULL REFERENCES jobs,
  seq bigint NOT NULL,
  kind text,
  payload text,
  wall_time_ns bigint,
  record bigint REFERENCES records,
  CHECK ((record IS NULL) = (kind IS NOT NULL AND payload IS NOT NULL AND wall_time_ns IS NOT NULL)),
  PRIMARY KEY (job, seq)
);

CREATE TABLE task_progress (
  task bigint NOT NULL REFERENCES tasks,
  signature bigint NOT NULL REFERENCES texts,
  trials bigint NOT NULL,
  first_trial bigint NOT NULL,
  default_ns double precision NOT NULL,
  best_ns double precision NOT NULL,
  PRIMARY KEY (task, signature)
);
CREATE TABLE job_progress (
  job bigint NOT NULL REFERENCES jobs,
  task bigint NOT NULL REFERENCES tasks,
  signature bigint NOT NULL REFERENCES texts,
  trials bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (job, task, signature)
);

CREATE TABLE finals (
  id bigint PRIMARY KEY,
  task bigint NOT NULL REFERENCES tasks,
  signature bigint NOT NULL REFERENCES texts,
  job bigint REFERENCES jobs,
  distinct_trials bigint NOT NULL,
  space_size bigint NOT NULL,
  ended_share double precision NOT NULL,
  winner integer NOT NULL,
  default_entry integer NOT NULL,
  toolchain bigint NOT NULL REFERENCES texts,
  device bigint NOT NULL REFERENCES texts,
  wall_time_ns bigint NOT NULL
);
CREATE INDEX finals_of_task ON finals (task, signature, id);

CREATE TABLE final_entries (
  final bigint NOT NULL REFERENCES finals,
  position integer NOT NULL,
  config bigint NOT NULL REFERENCES texts,
  nest_digest bytea NOT NULL,
  artifact_digest bytea NOT NULL,
  round_ns bytea NOT NULL,
  median_ns double precision,
  ratio_to_default double precision,
  PRIMARY KEY (final, position)
);

CREATE TABLE model_finals (
  id bigint PRIMARY KEY,
  skeleton bytea NOT NULL,
  target bigint NOT NULL REFERENCES texts,
  model text NOT NULL,
  signatures bigint NOT NULL REFERENCES texts,
  compared bytea NOT NULL,
  rounds bigint NOT NULL,
  default_ns double precision,
  tuned_ns double precision,
  ratio double precision,
  ratio_low double precision,
  ratio_high double precision,
  wall_time_ns bigint NOT NULL
);
CREATE INDEX model_finals_of_skeleton ON model_finals (skeleton, target, id);

CREATE TABLE model_final_kernels (
  final bigint NOT NULL REFERENCES model_finals,
  position integer NOT NULL,
  name text NOT NULL,
  workload_digest bytea NOT NULL,
  signature bigint NOT NULL REFERENCES texts,
  calls bigint NOT NULL,
  winner bigint NOT NULL REFERENCES texts,
  kept bigint NOT NULL REFERENCES texts,
  kept_nest_digest bytea NOT NULL,
  default_ns double precision,
  winner_ns double precision,
  ratio double precision,
  ratio_low double precision,
  ratio_high double precision,
  PRIMARY KEY (final, position)
);

CREATE TABLE misses (
  id bigint PRIMARY KEY,
  workload bigint NOT NULL REFERENCES texts,
  workload_digest bytea NOT NULL,
  signature bigint NOT NULL REFERENCES texts,
  target bigint NOT NULL REFERENCES texts,
  tier text NOT NULL,
  model text NOT NULL,
  count bigint NOT NULL,
  UNIQUE (workload_digest, signature, target, model)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION '% are append-only', TG_TABLE_NAME; END $$;
CREATE FUNCTION refuse_samples() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN
    IF length(new.samples_ns) > 0 OR (to_jsonb(new) - 'samples_ns') <> (to_jsonb(old) - 'samples_ns')
    THEN RAISE EXCEPTION 'records are append-only'; END IF;
    RETURN new;
  END $$;
CREATE FUNCTION refuse_last_event() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN
    IF old.seq = (SELECT max(seq) FROM hone.events WHERE job = old.job)
    THEN RAISE EXCEPTION 'the last event of a job stays'; END IF;
    RETURN old;
  END $$;
CREATE TRIGGER records_are_never_deleted BEFORE DELETE ON records
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER records_are_never_changed BEFORE UPDATE ON records
  FOR EACH ROW EXECUTE FUNCTION refuse_samples();
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER last_events_are_never_deleted BEFORE DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_last_event();
)sql";

}  // namespace hone::tuning_db::postgres
