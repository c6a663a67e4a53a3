#include "tuner/role.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hone::tuner {
namespace {

using Named = std::pair<std::string_view, Role>;

constexpr std::array kRoles = {Named{"read", Role::kRead}, Named{"submit", Role::kSubmit},
                               Named{"work", Role::kWork}, Named{"admin", Role::kAdmin}};

// The one place that says who may call what. What stands here for kRead, kSubmit may call too.
constexpr std::array kMethods = {
    Named{"/hone.v1.TuningService/SubmitJob", Role::kSubmit},
    Named{"/hone.v1.TuningService/CloneJob", Role::kSubmit},
    Named{"/hone.v1.TuningService/GetJob", Role::kRead},
    Named{"/hone.v1.TuningService/ListJobs", Role::kRead},
    Named{"/hone.v1.TuningService/WatchJob", Role::kRead},
    Named{"/hone.v1.TuningService/CancelJob", Role::kSubmit},
    Named{"/hone.v1.TuningService/PauseJob", Role::kSubmit},
    Named{"/hone.v1.TuningService/ResumeJob", Role::kSubmit},
    Named{"/hone.v1.TuningService/GetConfigs", Role::kRead},
    // Its times are the caller's word, and every compile takes them.
    Named{"/hone.v1.TuningService/AddModelFinal", Role::kAdmin},
    Named{"/hone.v1.TuningService/GetModelFinal", Role::kRead},
    Named{"/hone.v1.FarmService/Work", Role::kWork},
    Named{"/hone.v1.FarmService/ListWorkers", Role::kRead},
    Named{"/hone.v1.FarmService/DrainWorker", Role::kAdmin},
    Named{"/hone.v1.FarmService/UndrainWorker", Role::kAdmin},
    Named{"/hone.v1.FarmService/QuarantineWorker", Role::kAdmin},
    Named{"/hone.v1.FarmService/ReleaseWorker", Role::kAdmin},
    Named{"/hone.v1.LogService/ListRecords", Role::kRead},
    Named{"/hone.v1.LogService/GetRecord", Role::kRead},
    Named{"/hone.v1.LogService/ListFinals", Role::kRead},
    Named{"/hone.v1.LogService/GetLogStats", Role::kRead},
    // It adds to what a database keeps.
    Named{"/hone.v1.LogService/RecordMisses", Role::kSubmit},
    Named{"/hone.v1.LogService/ListMisses", Role::kRead},
    Named{"/hone.v1.LogService/ExportLog", Role::kRead},
    // What it adds decides what every compile gets.
    Named{"/hone.v1.LogService/ImportLog", Role::kAdmin},
    Named{"/hone.v1.LogService/RetractRecord", Role::kAdmin},
    Named{"/hone.v1.LogService/Prune", Role::kAdmin},
    Named{"/hone.v1.AuthService/AddGrant", Role::kAdmin},
    Named{"/hone.v1.AuthService/ListGrants", Role::kAdmin},
    Named{"/hone.v1.AuthService/RevokeGrants", Role::kAdmin},
    Named{"/hone.v1.AuthService/WhoAmI", Role::kRead},
    Named{"/grpc.health.v1.Health/Check", Role::kRead},
    Named{"/grpc.health.v1.Health/Watch", Role::kRead},
    Named{"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Role::kRead},
};

// What tells nothing of others, and a worker's machine asks, too.
constexpr std::array<std::string_view, 3> kOfEverybody = {
    "/hone.v1.AuthService/WhoAmI", "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"};

}  // namespace

std::string_view Name(Role role) {
  for (const auto& [name, known] : kRoles) {
    if (known == role) return name;
  }
  return "unknown";
}

std::optional<Role> RoleOf(std::string_view name) {
  for (const auto& [known, role] : kRoles) {
    if (known == name) return role;
  }
  return std::nullopt;
}

std::optional<Role> RoleFor(std::string_view method) {
  for (const auto& [known, role] : kMethods) {
    if (known == method) return role;
  }
  return std::nullopt;
}

bool MayCall(Role role, std::string_view method) {
  if (role == Role::kAdmin) return true;
  if (std::ranges::find(kOfEverybody, method) != kOfEverybody.end()) return true;
  const std::optional<Role> needed = RoleFor(method);
  if (!needed) return false;
  return *needed == role || (*needed == Role::kRead && role == Role::kSubmit);
}

}  // namespace hone::tuner
