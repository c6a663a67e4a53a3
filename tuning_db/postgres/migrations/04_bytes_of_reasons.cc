#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Why a device rests is what its worker said, which may be any bytes, as messages are.
const char kBytesOfReasons[] = R"sql(
ALTER TABLE device_rests ALTER COLUMN reason TYPE bytea USING convert_to(reason, 'UTF8');
)sql";

}  // namespace hone::tuning_db::postgres
