// Answers requests to read the tuning log from a store. The daemon uses it, and so does a verb that
// reads a database itself.
#ifndef HONE_TUNER_LOG_READER_H_
#define HONE_TUNER_LOG_READER_H_

#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"
#include "tuning_db/log_store.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// kInvalidArgument for an unknown purpose or outcome.
absl::StatusOr<tuning_db::RecordFilter> FilterOf(const hone::v1::LogFilter& filter);

// Thread-safe. The store outlives it. Errors are those of the store's calls, and FilterOf's.
class LogReader {
 public:
  explicit LogReader(tuning_db::Store* store) : store_(store) {}

  absl::StatusOr<hone::v1::ListRecordsResponse> ListRecords(
      const hone::v1::ListRecordsRequest& request) const;
  absl::StatusOr<hone::v1::GetRecordResponse> GetRecord(
      const hone::v1::GetRecordRequest& request) const;
  absl::StatusOr<hone::v1::ListFinalsResponse> ListFinals(
      const hone::v1::ListFinalsRequest& request) const;
  // It takes a second where the log is long.
  absl::StatusOr<hone::v1::GetLogStatsResponse> GetLogStats(
      const hone::v1::GetLogStatsRequest& request) const;

 private:
  tuning_db::Store* const store_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_LOG_READER_H_
