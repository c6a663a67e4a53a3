#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Workers and devices that an operator put aside, until they are released. A device that is empty:
// all of the worker's.
const char kQuarantines[] = R"sql(
CREATE TABLE quarantines (
  worker TEXT NOT NULL,
  device TEXT NOT NULL,
  reason TEXT NOT NULL,
  said_by TEXT NOT NULL,
  at_ns INTEGER NOT NULL,
  PRIMARY KEY (worker, device)
) STRICT, WITHOUT ROWID;
)sql";

}  // namespace hone::tuning_db::sqlite
