#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Jobs know how far their tasks had come when they ended. It is unknown of those of before, which
// tell what is known of their tasks now.
const char kJobEnds[] = R"sql(
CREATE TABLE job_ends (
  job INTEGER PRIMARY KEY REFERENCES jobs (id),
  progress TEXT NOT NULL
) STRICT;
)sql";

}  // namespace hone::tuning_db::sqlite
