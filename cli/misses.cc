#include "cli/misses.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "cli/log_client.h"
#include "cli/model_options.h"
#include "cli/service_address.h"
#include "cli/written_log.h"
#include "compiler/ops/lower.h"
#include "support/status.h"
#include "tuning_db/open_misses.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

std::vector<tuning_db::Miss> MissesOf(const driver::CompileReport& report,
                                      const std::string& model) {
  std::vector<tuning_db::Miss> misses;
  for (const driver::KernelReport& kernel : report.kernels) {
    if (driver::IsTuned(kernel)) continue;
    misses.push_back({.workload = kernel.workload,
                      .workload_digest = kernel.workload_digest,
                      .signature = kernel.signature,
                      .target = report.target,
                      .tier = kernel.tier,
                      .model = model});
  }
  return misses;
}

// The default database is made where it is not there, with its folder.
absl::StatusOr<WrittenLog> OpenToRecord(const std::string& database, bool is_default) {
  if (!is_default) return WrittenLog::Open(database, tuning_db::OpenMode::kReadWrite);
  std::error_code ignored;  // opening says what is wrong
  std::filesystem::create_directories(std::filesystem::path(database).parent_path(), ignored);
  return WrittenLog::Open(database, tuning_db::OpenMode::kCreate);
}

// nullopt: this release does not know it.
std::optional<driver::TuningTask> TaskOf(const tuning_db::Miss& miss) {
  absl::StatusOr<ops::KernelDefinition> def = ops::LowerWorkload(miss.workload);
  if (!def.ok() || def->workload.text != miss.workload) return std::nullopt;
  absl::StatusOr<ir::LayoutSignature> signature = ops::ParseSignature(*def, miss.signature);
  if (!signature.ok()) return std::nullopt;
  driver::TuningTask task;
  task.name = def->naive.name;
  task.def = std::make_shared<const ops::KernelDefinition>(*std::move(def));
  task.signature = *std::move(signature);
  task.weight = static_cast<double>(miss.count);
  return task;
}

}  // namespace

absl::Status RecordMisses(const driver::CompileReport& report, const std::string& model,
                          const ConfigOptions& place) {
  const std::vector<tuning_db::Miss> misses = MissesOf(report, model);
  if (misses.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const std::string named, NamedServer(place.server, place.database));
  if (!named.empty()) return LogClient(named).RecordMisses(misses);
  const std::string database = DatabasePath(place.database);
  HONE_ASSIGN_OR_RETURN(WrittenLog log, OpenToRecord(database, place.database.empty()));
  return log.store != nullptr ? log.store->RecordMisses(misses) : log.client->RecordMisses(misses);
}

absl::StatusOr<std::vector<tuning_db::Miss>> ReadMisses(const std::string& server,
                                                        const std::string& database,
                                                        const std::string& target) {
  if (!server.empty()) return LogClient(server).Misses(target);
  const absl::StatusOr<std::unique_ptr<tuning_db::Store>> store =
      tuning_db::OpenStore(DatabasePath(database), tuning_db::OpenMode::kReadOnly);
  if (absl::IsNotFound(store.status()) && database.empty()) return std::vector<tuning_db::Miss>();
  HONE_RETURN_IF_ERROR(store.status());
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Miss> all, (*store)->ListMisses(target));
  return tuning_db::StillMissed(**store, all);
}

MissedTasks TasksOfMisses(const std::vector<tuning_db::Miss>& misses) {
  MissedTasks missed;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const tuning_db::Miss& miss : misses) {
    const auto [it, is_new] =
        known.try_emplace({miss.workload_digest, miss.signature}, missed.tasks.size());
    if (!is_new) {
      missed.tasks[it->second].weight += static_cast<double>(miss.count);
      continue;
    }
    std::optional<driver::TuningTask> task = TaskOf(miss);
    if (task) {
      missed.tasks.push_back(*std::move(task));
    } else {
      known.erase(it);
      ++missed.unread;
    }
  }
  std::ranges::stable_sort(missed.tasks, std::ranges::greater(), &driver::TuningTask::weight);
  return missed;
}

}  // namespace hone::cli
