// Conditions on rows that both SQL stores use, as text that both understand.
#ifndef HONE_TUNING_DB_CONDITIONS_H_
#define HONE_TUNING_DB_CONDITIONS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::tuning_db {

// Holds for rows of `jobs` that have not ended. It is the condition of the index jobs_open. If the
// rows are named j, put "j." before it.
inline constexpr char kHasNotEnded[] = "state IN (0, 1, 5)";

// Holds for rows `f` of `finals` whose record was not retracted.
inline constexpr char kFinalCounts[] =
    "NOT EXISTS (SELECT 1 FROM retractions x WHERE x.record = f.record)";

// Holds for rows `r` of `records` of which Upkeep::Prune may remove all samples but one.
// `before_wall_ns` is the SQL parameter for the time, and `one_bytes` the size of a single sample
// as stored.
std::string SpareSamples(std::string_view before_wall_ns, size_t one_bytes);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_CONDITIONS_H_
