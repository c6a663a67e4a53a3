#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Who may call the daemons over a network. Of a token its SHA-256 is kept; a grant without one is
// a certificate's.
const char kGrants[] = R"sql(
CREATE TABLE grants (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  role text NOT NULL,
  token_digest text NOT NULL,
  made_at_ns bigint NOT NULL,
  ends_at_ns bigint NOT NULL,
  revoked_at_ns bigint NOT NULL
);
)sql";

}  // namespace hone::tuning_db::postgres
