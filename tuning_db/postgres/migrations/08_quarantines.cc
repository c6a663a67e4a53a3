#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Workers and devices that an operator put aside, until they are released. A device that is empty:
// all of the worker's.
const char kQuarantines[] = R"sql(
CREATE TABLE quarantines (
  worker text NOT NULL,
  device text NOT NULL,
  reason text NOT NULL,
  said_by text NOT NULL,
  at_ns bigint NOT NULL,
  PRIMARY KEY (worker, device)
);
)sql";

}  // namespace hone::tuning_db::postgres
