#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Who may call the daemon over a network. Of a token its SHA-256 is kept; a grant without one is
// a certificate's.
const char kGrants[] = R"sql(
CREATE TABLE grants (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  token_digest TEXT NOT NULL,
  made_at_ns INTEGER NOT NULL,
  ends_at_ns INTEGER NOT NULL,
  revoked_at_ns INTEGER NOT NULL
) STRICT;
)sql";

}  // namespace hone::tuning_db::sqlite
