#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// What whole models were timed to.
const char kModelFinals[] = R"sql(
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

}  // namespace hone::tuning_db::sqlite
