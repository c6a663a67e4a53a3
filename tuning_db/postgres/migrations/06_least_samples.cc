#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// The least of samples that are removed stays: its record is ranked by it.
const char kLeastSamples[] = R"sql(
CREATE OR REPLACE FUNCTION refuse_samples() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN
    IF (length(new.samples_ns) > 0 AND
        NOT (length(new.samples_ns) = 8 AND length(old.samples_ns) > 8)) OR
       (to_jsonb(new) - 'samples_ns') <> (to_jsonb(old) - 'samples_ns')
    THEN RAISE EXCEPTION 'records are append-only'; END IF;
    RETURN new;
  END $$;
)sql";

}  // namespace hone::tuning_db::postgres
