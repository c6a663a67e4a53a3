// The tuning log as lines of JSON, to be kept, compared, or carried to another database.
//
// The first line is {"hone_log": 1}. Every other line is an object with "kind": "record" or "final"
// and everything that reproduces it: texts, digests, samples. Numbers that JSON lacks are written
// as null (NaN), "inf" and "-inf". Bytes of a message that are not UTF-8 are replaced.
#ifndef HONE_TUNING_DB_LOG_IO_H_
#define HONE_TUNING_DB_LOG_IO_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/log_line.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

inline constexpr char kLogFirstLine[] = R"({"hone_log": 1})";

struct LogCounts {
  int64_t records = 0;
  int64_t finals = 0;
  int64_t known = 0;  // records and finals that were there already, and were left as they are
};

// A part of a log, which is a log itself.
struct LogPage {
  std::string lines;
  LogCounts counts;
  std::string next;  // the cursor of the next page; opaque
  bool is_last = false;
};

// A page ends, whatever its limit, with the line that takes it to this many bytes.
inline constexpr size_t kLogPageBytes = size_t{1} << 20;

// Exports first the records that the filter selects, in the order of their commits; then, for each
// task and signature with such a record, the newest final that is not retracted. At most `limit`
// records or finals, after `cursor` (empty: from the beginning). kInvalidArgument for a cursor that
// did not come from a page.
absl::StatusOr<LogPage> ExportLogPage(Store& store, const RecordFilter& filter,
                                      const std::string& cursor, int64_t limit);

// Writes all pages as one log.
absl::StatusOr<LogCounts> ExportLog(Store& store, const RecordFilter& filter, std::ostream& out);

// Calls `take` with each line of a log after the first. Stops at the first bad line, with
// kInvalidArgument and its number, or at the first error of `take`, which it returns.
absl::Status ReadLog(std::istream& in, const std::function<absl::Status(LogLine&& line)>& take);

// Adds what is new, as trials of no job; importing a log twice adds nothing. A trial that the store
// has already, open or settled, stays as it is; but if the log's record is retracted and the store
// has the same measurement, that is retracted, too. A bad line gives kInvalidArgument with its
// number, and nothing is added; after any other error, a second import goes on where the first
// ended. `in` must be seekable: it is read twice, from where it stands, a little at a time.
absl::StatusOr<LogCounts> ImportLog(Store& store, std::istream& in);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_IO_H_
