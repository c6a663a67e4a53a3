#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Samples of records as packed_reals.h has them: the same figures in fewer bytes.
const char kPackedSamples[] = R"sql(
DROP TRIGGER samples_are_only_removed;
UPDATE records SET samples_ns = packed_reals(samples_ns) WHERE LENGTH(samples_ns) > 0;
CREATE TRIGGER samples_are_only_removed BEFORE UPDATE OF samples_ns ON records
WHEN LENGTH(new.samples_ns) > 0
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
)sql";

}  // namespace hone::tuning_db::sqlite
