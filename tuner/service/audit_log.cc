#include "tuner/service/audit_log.h"

#include <fmt/format.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/time/time.h"
#include "tuner/role.h"

namespace hone::tuner {
namespace {

constexpr size_t kFileBytes = size_t{10} << 20;
constexpr size_t kOlderFiles = 4;
constexpr mode_t kOwnFile = 0600;

// A service denies what is not the caller's, or ends a stream whose grant is gone.
bool IsRefusal(const std::string& outcome) {
  return outcome == absl::StatusCodeToString(absl::StatusCode::kPermissionDenied) ||
         outcome == absl::StatusCodeToString(absl::StatusCode::kUnauthenticated);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path,
                                                         const Clock* clock) {
  try {
    auto sink =
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path, kFileBytes, kOlderFiles);
    auto file = std::make_shared<spdlog::logger>("audit", std::move(sink));
    file->set_pattern("%v");
    file->flush_on(spdlog::level::info);
    chmod(path.c_str(), kOwnFile);
    return std::unique_ptr<AuditLog>(new AuditLog(std::move(file), clock));
  } catch (const spdlog::spdlog_ex& error) {
    return absl::InvalidArgumentError(
        fmt::format("cannot write the audit log {}: {}", path, error.what()));
  }
}

void AuditLog::Note(const Call& call) {
  if (RoleFor(call.method) != Role::kRead || IsRefusal(call.outcome)) Write(call);
}

void AuditLog::Note(const Gatekeeper::Decision& decision) {
  if (decision.status.ok()) return;
  Write({.caller = decision.caller,
         .peer = "",
         .method = decision.method,
         .outcome = absl::StatusCodeToString(decision.status.code())});
}

void AuditLog::Write(const Call& call) {
  nlohmann::json line = {
      {"time", absl::FormatTime(absl::RFC3339_full, absl::FromUnixNanos(clock_->WallTimeNs()),
                                absl::UTCTimeZone())},
      {"caller", call.caller},
      {"method", call.method},
      {"outcome", call.outcome}};
  if (!call.peer.empty()) line["peer"] = call.peer;
  line.update(call.subject);
  file_->info(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace hone::tuner
