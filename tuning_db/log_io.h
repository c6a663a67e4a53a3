// The tuning log as JSON lines, to be kept, compared, or carried to another database.
//
// The first line is {"hone_log": 1}. Every other is an object with "kind": "record" or "final",
// holding everything that reproduces it: texts, digests, samples. A figure that JSON lacks is null
// (not a number), "inf" or "-inf"; bytes of a message that are no UTF-8 are replaced.
#ifndef HONE_TUNING_DB_LOG_IO_H_
#define HONE_TUNING_DB_LOG_IO_H_

#include <cstdint>
#include <istream>
#include <ostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

struct LogCounts {
  int64_t records = 0;
  int64_t finals = 0;
  int64_t known = 0;  // records and finals that were there, and were left as they are
};

// The records that the filter selects, then the newest final of each of their tasks and signatures.
absl::StatusOr<LogCounts> ExportLog(Store& store, const RecordFilter& filter, std::ostream& out);

// Adds what is new, as trials of no job; to import twice adds nothing. A trial that is there, open
// or settled, is left as it is. kInvalidArgument with the number of the first bad line, and then
// nothing is added; after another error a second import goes on where the first ended.
absl::StatusOr<LogCounts> ImportLog(Store& store, std::istream& in);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_IO_H_
