// Adds the lines of a log to a store, in batches.
#ifndef HONE_TUNING_DB_LOG_IMPORT_H_
#define HONE_TUNING_DB_LOG_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/log_io.h"
#include "tuning_db/log_line.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

// After Finish, all lines given to Add are in the store. If a call fails, what was added before
// stays, and importing the whole log again continues from there. Not thread-safe. The store must
// outlive it.
class LogImport {
 public:
  explicit LogImport(Store* store) : store_(store) {}

  absl::Status Add(LogLine line);
  absl::StatusOr<LogCounts> Finish();

 private:
  absl::StatusOr<int64_t> TaskOf(const Task& task);
  absl::Status AddRecord(int64_t task, Record record);
  absl::Status AddFinal(int64_t task, Final final);
  // Writes the batch.
  absl::Status Flush();
  // Retracts the store's record of the same measurement, if it has one.
  absl::Status RetractHere(const Measured& measured);

  Store* const store_;
  // By workload digest and target. Tasks are few.
  std::map<std::pair<std::string, std::string>, int64_t> tasks_;
  std::vector<Measured> batch_;
  size_t batch_bytes_ = 0;
  LogCounts counts_;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_IMPORT_H_
