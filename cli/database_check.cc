#include "cli/database_check.h"

#include <filesystem>
#include <memory>
#include <optional>

#include "fmt/format.h"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using tuning_db::OpenMode;

constexpr const char* kCheck = "database";
constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kLittleRoom = kGiB;
constexpr int64_t kTooLittleRoom = kGiB / 16;
// A server that is away is not waited for as long as a tune would.
constexpr int64_t kServerPatienceNs = 3'000'000'000;
// Pages have checksums: what is read is known to be whole. `hone db check` reads all of it.
constexpr int64_t kRowsRead = 100;

absl::StatusOr<std::unique_ptr<tuning_db::Store>> Open(const std::string& database) {
  if (tuning_db::IsPostgresAddress(database)) {
    return tuning_db::OpenPostgresStore(database, OpenMode::kReadOnly, Clock::Real(),
                                        kServerPatienceNs);
  }
  return tuning_db::OpenSqliteStore(database, OpenMode::kReadOnly);
}

absl::Status ReadSome(tuning_db::Store& store) {
  HONE_RETURN_IF_ERROR(
      store.ListRecords({}, tuning_db::Order::kNewestFirst, "", kRowsRead).status());
  return store.ListJobs({}, tuning_db::Order::kNewestFirst, "", kRowsRead).status();
}

Finding Opened(const std::string& database) {
  const bool is_file = !tuning_db::IsPostgresAddress(database);
  if (is_file && !std::filesystem::exists(database)) {
    return {kCheck, Level::kOk, fmt::format("{}: none yet; `hone tune` makes it", database), ""};
  }
  const auto store = Open(database);
  if (!store.ok()) {
    const bool is_old = absl::IsFailedPrecondition(store.status());
    return {kCheck, Level::kProblem, std::string(store.status().message()),
            is_old ? "hone db migrate, or the release of hone that wrote it"
                   : "hone db check --db FILE says more; restore a backup where it is damaged"};
  }
  const absl::Status read = ReadSome(**store);
  if (!read.ok()) {
    return {kCheck, Level::kProblem, std::string(read.message()),
            "hone db check finds all that is wrong; restore a backup"};
  }
  const auto writer = tuning_db::WriterOf(database);
  const std::string held =
      writer.ok() && *writer ? fmt::format(", written by {}", tuning_db::Describe(**writer)) : "";
  return {kCheck, Level::kOk, fmt::format("{}{}", database, held), ""};
}

std::optional<Finding> RoomFor(const std::string& database, int64_t free_bytes) {
  if (tuning_db::IsPostgresAddress(database)) return std::nullopt;
  if (free_bytes < 0) {
    std::filesystem::path folder = std::filesystem::absolute(database).parent_path();
    while (!folder.empty() && !std::filesystem::exists(folder) && folder != folder.parent_path()) {
      folder = folder.parent_path();
    }
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(folder, error);
    if (error) return std::nullopt;
    free_bytes = static_cast<int64_t>(space.available);
  }
  const std::string found =
      fmt::format("{:.1f} GiB free", static_cast<double>(free_bytes) / static_cast<double>(kGiB));
  if (free_bytes >= kLittleRoom) return Finding{"disk", Level::kOk, found, ""};
  return Finding{"disk", free_bytes < kTooLittleRoom ? Level::kProblem : Level::kWarning, found,
                 "make room, or hone db prune --keep AGE: a daemon whose disk is full stops"};
}

}  // namespace

Findings CheckDatabase(const std::string& database, int64_t free_bytes) {
  Findings findings = {Opened(database)};
  if (const auto room = RoomFor(database, free_bytes)) findings.push_back(*room);
  return findings;
}

}  // namespace hone::cli
