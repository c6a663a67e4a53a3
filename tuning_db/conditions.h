// Conditions on rows that the stores in SQL share: as text, in the SQL of either.
#ifndef HONE_TUNING_DB_CONDITIONS_H_
#define HONE_TUNING_DB_CONDITIONS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::tuning_db {

// Rows of `jobs` that have not ended: the condition of the index jobs_open. Where the rows are
// named j, it takes a "j." before it.
inline constexpr char kHasNotEnded[] = "state IN (0, 1, 5)";

// Rows `f` of `finals` whose record was not retracted.
inline constexpr char kFinalCounts[] =
    "NOT EXISTS (SELECT 1 FROM retractions x WHERE x.record = f.record)";

// Rows `r` of `records` that have more samples than one, which takes `one_bytes`, and whose others
// may go: older than the parameter `before_wall_ns`, of a search that is over, and of a config that
// no final of its task compared.
std::string SpareSamples(std::string_view before_wall_ns, size_t one_bytes);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_CONDITIONS_H_
