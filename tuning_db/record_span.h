// Ranges of consecutive record ids. The SQL stores know the times of whole blocks of ids.
#ifndef HONE_TUNING_DB_RECORD_SPAN_H_
#define HONE_TUNING_DB_RECORD_SPAN_H_

#include <cstdint>
#include <limits>

namespace hone::tuning_db {

// A row of the table record_spans is a block of 2^kSpanBits ids.
inline constexpr int kSpanBits = 10;

// A range of ids; both ends are in it.
struct IdRange {
  int64_t first = 1;
  int64_t last = std::numeric_limits<int64_t>::max();
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_RECORD_SPAN_H_
