#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// The least of samples that are removed stays: its record is ranked by it. Packed, one has nine
// bytes and several have more.
const char kLeastSamples[] = R"sql(
DROP TRIGGER samples_are_only_removed;
CREATE TRIGGER samples_are_only_removed BEFORE UPDATE OF samples_ns ON records
WHEN LENGTH(new.samples_ns) > 0 AND NOT (LENGTH(new.samples_ns) = 9 AND LENGTH(old.samples_ns) > 9)
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
)sql";

}  // namespace hone::tuning_db::sqlite
