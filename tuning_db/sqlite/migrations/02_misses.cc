#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// What compiles looked for in vain.
const char kMisses[] = R"sql(
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

}  // namespace hone::tuning_db::sqlite
