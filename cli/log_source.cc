#include "cli/log_source.h"

#include <utility>

#include "CLI/CLI.hpp"
#include "cli/log_client.h"
#include "cli/model_options.h"
#include "cli/service_address.h"
#include "support/status.h"
#include "tuner/log_reader.h"
#include "tuner/log_transfer.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

class StoredLog final : public LogSource {
 public:
  explicit StoredLog(std::unique_ptr<tuning_db::Store> store)
      : store_(std::move(store)), reader_(store_.get()) {}

  absl::StatusOr<v1::ListRecordsResponse> ListRecords(
      const v1::ListRecordsRequest& request) override {
    return reader_.ListRecords(request);
  }
  absl::StatusOr<v1::GetRecordResponse> GetRecord(const v1::GetRecordRequest& request) override {
    return reader_.GetRecord(request);
  }
  absl::StatusOr<v1::ListFinalsResponse> ListFinals(const v1::ListFinalsRequest& request) override {
    return reader_.ListFinals(request);
  }
  absl::StatusOr<v1::GetLogStatsResponse> GetLogStats(
      const v1::GetLogStatsRequest& request) override {
    return reader_.GetLogStats(request);
  }
  absl::StatusOr<v1::ExportLogResponse> ExportLog(const v1::ExportLogRequest& request) override {
    return tuner::ExportLog(*store_, request);
  }

 private:
  const std::unique_ptr<tuning_db::Store> store_;
  const tuner::LogReader reader_;
};

}  // namespace

void LogPlace::AddTo(CLI::App& verb) {
  CLI::Option* db = verb.add_option("--db", database, "The tuning database");
  verb.add_option("--server", server,
                  "A running honed instead: unix:PATH, a join string, or @FILE with one")
      ->excludes(db);
}

absl::StatusOr<std::unique_ptr<LogSource>> LogPlace::Open() const {
  HONE_ASSIGN_OR_RETURN(const std::string address, NamedServer(server, database));
  if (!address.empty()) return std::make_unique<LogClient>(address);
  HONE_ASSIGN_OR_RETURN(
      auto store, tuning_db::OpenStore(DatabasePath(database), tuning_db::OpenMode::kReadOnly));
  return std::make_unique<StoredLog>(std::move(store));
}

}  // namespace hone::cli
