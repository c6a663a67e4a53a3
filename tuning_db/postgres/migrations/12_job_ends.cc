#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Jobs know how far their tasks had come when they ended. It is unknown of those of before, which
// tell what is known of their tasks now.
const char kJobEnds[] = R"sql(
CREATE TABLE job_ends (
  job bigint PRIMARY KEY REFERENCES jobs (id),
  progress text NOT NULL
);
)sql";

}  // namespace hone::tuning_db::postgres
