// Calls a daemon's LogService: reads the tuning log, changes it, and records and lists the misses
// of compiles.
#ifndef HONE_CLI_LOG_CLIENT_H_
#define HONE_CLI_LOG_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/log_source.h"
#include "tuning_db/types.h"
#include "tuning_db/upkeep.h"

namespace hone::cli {

// Calls one daemon at `address` (as ReadServerAddress takes it). kUnavailable when it cannot be
// reached; other errors are those of tuning_db::Upkeep. Not thread-safe.
class LogClient final : public LogSource {
 public:
  explicit LogClient(const std::string& address);
  ~LogClient() override;

  absl::StatusOr<v1::ListRecordsResponse> ListRecords(
      const v1::ListRecordsRequest& request) override;
  absl::StatusOr<v1::GetRecordResponse> GetRecord(const v1::GetRecordRequest& request) override;
  absl::StatusOr<v1::ListFinalsResponse> ListFinals(const v1::ListFinalsRequest& request) override;
  absl::StatusOr<v1::GetLogStatsResponse> GetLogStats(
      const v1::GetLogStatsRequest& request) override;
  absl::StatusOr<v1::ExportLogResponse> ExportLog(const v1::ExportLogRequest& request) override;

  absl::StatusOr<v1::ImportLogResponse> Import(const std::string& lines);
  absl::Status Retract(int64_t record, const std::string& reason);
  // Records all of them in one call.
  absl::Status RecordMisses(const std::vector<tuning_db::Miss>& misses);
  // The misses of the target (empty: of all targets) whose kernels are not tuned by now.
  absl::StatusOr<std::vector<tuning_db::Miss>> Misses(const std::string& target);
  absl::StatusOr<tuning_db::Pruned> Prune(int64_t before_wall_ns,
                                          const tuning_db::PrunePlace& place);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_CLIENT_H_
