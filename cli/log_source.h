// The places from which a verb reads the tuning log.
#ifndef HONE_CLI_LOG_SOURCE_H_
#define HONE_CLI_LOG_SOURCE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"

namespace CLI {
class App;
}

namespace hone::cli {

// A database, or a running honed. Not thread-safe. Errors are those of tuning_db::LogStore, and
// kUnavailable where a server cannot be reached.
class LogSource {
 public:
  virtual ~LogSource() = default;
  virtual absl::StatusOr<v1::ListRecordsResponse> ListRecords(
      const v1::ListRecordsRequest& request) = 0;
  virtual absl::StatusOr<v1::GetRecordResponse> GetRecord(const v1::GetRecordRequest& request) = 0;
  virtual absl::StatusOr<v1::ListFinalsResponse> ListFinals(
      const v1::ListFinalsRequest& request) = 0;
  virtual absl::StatusOr<v1::GetLogStatsResponse> GetLogStats(
      const v1::GetLogStatsRequest& request) = 0;
  virtual absl::StatusOr<v1::ExportLogResponse> ExportLog(const v1::ExportLogRequest& request) = 0;
};

// The flags --db and --server.
struct LogPlace {
  std::string database;
  std::string server;

  void AddTo(CLI::App& verb);
  // Opens the database for reading, or connects to the server. With neither flag, that is the
  // server of HONE_SERVER, or else the default database. Errors are those of tuning_db::OpenStore.
  absl::StatusOr<std::unique_ptr<LogSource>> Open() const;
};

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_SOURCE_H_
