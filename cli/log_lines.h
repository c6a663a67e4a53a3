// Copies the tuning log from one place to another in parts, each of which is a log of its own.
#ifndef HONE_CLI_LOG_LINES_H_
#define HONE_CLI_LOG_LINES_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/log_source.h"
#include "cli/written_log.h"
#include "hone/v1/log.pb.h"
#include "tuning_db/log_import.h"
#include "tuning_db/log_io.h"

namespace hone::cli {

// A source of parts, in order. Not thread-safe.
class LogParts {
 public:
  virtual ~LogParts() = default;
  // Returns the next part; nothing after the last.
  virtual absl::StatusOr<std::optional<std::string>> Next() = 0;
};

// The parts of the log in a database or at a server that the filter selects. `log` outlives them.
std::unique_ptr<LogParts> PartsOf(LogSource& log, const v1::LogFilter& filter);
// The parts of a log file, which hold all of it. kNotFound if there is no file, kInvalidArgument if
// it is not a log.
absl::StatusOr<std::unique_ptr<LogParts>> PartsOfFile(const std::string& path);

// Reads all of a file and keeps nothing. kInvalidArgument names the file and its first bad line.
absl::Status CheckLogFile(const std::string& path);

// Adds parts to a written log. Not thread-safe; `log` outlives it.
class LogTaker {
 public:
  explicit LogTaker(WrittenLog* log);
  absl::Status Take(LogParts& parts);
  // Finishes, and returns how much all parts have added.
  absl::StatusOr<tuning_db::LogCounts> Finish();

 private:
  absl::Status TakePart(const std::string& part);

  WrittenLog* const log_;
  std::optional<tuning_db::LogImport> import_;  // into the store
  tuning_db::LogCounts counts_;                 // at the server
};

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_LINES_H_
