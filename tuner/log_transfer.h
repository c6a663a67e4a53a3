// Exports the tuning log from a store and imports it into one, page by page. The daemon uses it,
// and so does a verb that reads a database itself.
#ifndef HONE_TUNER_LOG_TRANSFER_H_
#define HONE_TUNER_LOG_TRANSFER_H_

#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// Both are thread-safe. Errors are those of tuning_db::ExportLogPage, tuning_db::ImportLog and
// FilterOf.
absl::StatusOr<hone::v1::ExportLogResponse> ExportLog(tuning_db::Store& store,
                                                      const hone::v1::ExportLogRequest& request);
absl::StatusOr<hone::v1::ImportLogResponse> ImportLog(tuning_db::Store& store,
                                                      const hone::v1::ImportLogRequest& request);

}  // namespace hone::tuner

#endif  // HONE_TUNER_LOG_TRANSFER_H_
