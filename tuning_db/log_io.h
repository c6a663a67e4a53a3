// The tuning log as JSON lines, to be kept, compared, or carried to another database.
//
// The first line is {"hone_log": 1}. Every other is an object with "kind": "record" or "final",
// holding everything that reproduces it: texts, digests, samples. A figure that JSON lacks is null
// (not a number), "inf" or "-inf"; bytes of a message that are no UTF-8 are replaced.
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
  int64_t known = 0;  // records and finals that were there, and were left as they are
};

// A part of a log, and itself one.
struct LogPage {
  std::string lines;
  LogCounts counts;
  std::string next;  // where the page after it begins; opaque
  bool is_last = false;
};

// Bytes of the lines after which a page ends, whatever its limit. The line that it ends with may go
// beyond.
inline constexpr size_t kLogPageBytes = size_t{1} << 20;

// First the records that the filter selects, in the order in which they were committed; then the
// newest final that counts of each task and signature that has such a record. At most `limit` of
// either, after `cursor` (empty: from the beginning). kInvalidArgument for a cursor of no page.
absl::StatusOr<LogPage> ExportLogPage(Store& store, const RecordFilter& filter,
                                      const std::string& cursor, int64_t limit);

// All pages as one log.
absl::StatusOr<LogCounts> ExportLog(Store& store, const RecordFilter& filter, std::ostream& out);

// Calls `take` with each line of a log but the first. kInvalidArgument with the number of the first
// line that is bad, or what `take` answers.
absl::Status ReadLog(std::istream& in, const std::function<absl::Status(LogLine&& line)>& take);

// Adds what is new, as trials of no job; to import twice adds nothing. A trial that is there, open
// or settled, is left as it is; only a record that is retracted there is retracted here, too, where
// it is the same measurement. kInvalidArgument with the number of the first bad line, and then
// nothing is added; after another error a second import goes on where the first ended. `in` is read
// twice, from where it stands, and little of it is kept at a time.
absl::StatusOr<LogCounts> ImportLog(Store& store, std::istream& in);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_IO_H_
