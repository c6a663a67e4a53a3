#include "tuner/role.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hone::tuner {
namespace {

using Named = std::pair<std::string_view, Role>;

struct Method {
  std::string_view name;
  Role role;
  std::string_view deed;  // what its caller wants to do
};

constexpr std::array kRoles = {Named{"read", Role::kRead}, Named{"submit", Role::kSubmit},
                               Named{"work", Role::kWork}, Named{"admin", Role::kAdmin}};

// The one place that says who may call what. What stands here for kRead, kSubmit may call too.
constexpr std::array kMethods = {
    Method{"/hone.v1.TuningService/SubmitJob", Role::kSubmit, "submit jobs"},
    Method{"/hone.v1.TuningService/CloneJob", Role::kSubmit, "clone jobs"},
    Method{"/hone.v1.TuningService/GetJob", Role::kRead, "see jobs"},
    Method{"/hone.v1.TuningService/ListJobs", Role::kRead, "see jobs"},
    Method{"/hone.v1.TuningService/WatchJob", Role::kRead, "watch jobs"},
    Method{"/hone.v1.TuningService/CancelJob", Role::kSubmit, "cancel jobs"},
    Method{"/hone.v1.TuningService/PauseJob", Role::kSubmit, "pause jobs"},
    Method{"/hone.v1.TuningService/ResumeJob", Role::kSubmit, "resume jobs"},
    Method{"/hone.v1.TuningService/GetConfigs", Role::kRead, "read best configs"},
    // Its times are the caller's word, and every compile takes them.
    Method{"/hone.v1.TuningService/AddModelFinal", Role::kAdmin, "store finals of models"},
    Method{"/hone.v1.TuningService/GetModelFinal", Role::kRead, "read finals of models"},
    Method{"/hone.v1.FarmService/Work", Role::kWork, "measure"},
    Method{"/hone.v1.FarmService/ListWorkers", Role::kRead, "see workers"},
    Method{"/hone.v1.FarmService/DrainWorker", Role::kAdmin, "drain workers"},
    Method{"/hone.v1.FarmService/UndrainWorker", Role::kAdmin, "take drains of workers back"},
    Method{"/hone.v1.FarmService/QuarantineWorker", Role::kAdmin, "put workers into quarantine"},
    Method{"/hone.v1.FarmService/ReleaseWorker", Role::kAdmin, "release workers"},
    Method{"/hone.v1.LogService/ListRecords", Role::kRead, "read the log"},
    Method{"/hone.v1.LogService/GetRecord", Role::kRead, "read the log"},
    Method{"/hone.v1.LogService/ListFinals", Role::kRead, "read the log"},
    Method{"/hone.v1.LogService/GetLogStats", Role::kRead, "read the log"},
    // It adds to what a database keeps.
    Method{"/hone.v1.LogService/RecordMisses", Role::kSubmit, "record what compiles missed"},
    Method{"/hone.v1.LogService/ListMisses", Role::kRead, "read what compiles missed"},
    Method{"/hone.v1.LogService/ExportLog", Role::kRead, "export the log"},
    // What it adds decides what every compile gets.
    Method{"/hone.v1.LogService/ImportLog", Role::kAdmin, "import logs"},
    Method{"/hone.v1.LogService/RetractRecord", Role::kAdmin, "retract records"},
    Method{"/hone.v1.LogService/Prune", Role::kAdmin, "prune the log"},
    Method{"/hone.v1.AuthService/AddGrant", Role::kAdmin, "let others in"},
    Method{"/hone.v1.AuthService/ListGrants", Role::kAdmin, "see who may call"},
    Method{"/hone.v1.AuthService/RevokeGrants", Role::kAdmin, "revoke what others were granted"},
    Method{"/hone.v1.AuthService/WhoAmI", Role::kRead, "ask who it is"},
    Method{"/grpc.health.v1.Health/Check", Role::kRead, "ask whether it serves"},
    Method{"/grpc.health.v1.Health/Watch", Role::kRead, "ask whether it serves"},
    Method{"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Role::kRead,
           "ask which methods there are"},
};

// What tells nothing of others, and a worker's machine asks, too.
constexpr std::array<std::string_view, 3> kOfEverybody = {
    "/hone.v1.AuthService/WhoAmI", "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"};

const Method* Find(std::string_view method) {
  const auto found = std::ranges::find(kMethods, method, &Method::name);
  return found != kMethods.end() ? &*found : nullptr;
}

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
  const Method* const found = Find(method);
  if (found == nullptr) return std::nullopt;
  return found->role;
}

std::string WhatIsDenied(Role role, std::string_view method) {
  const Method* const found = Find(method);
  const std::string held = fmt::format("has the role {}, which may not", Name(role));
  if (found == nullptr) return held + " do what this daemon does not know; an admin may ask";
  const bool is_for_admins = found->role == Role::kAdmin;
  return fmt::format("{} {}: that needs the role {}", held, found->deed,
                     is_for_admins ? "admin" : fmt::format("{} or admin", Name(found->role)));
}

bool MayCall(Role role, std::string_view method) {
  if (role == Role::kAdmin) return true;
  if (std::ranges::find(kOfEverybody, method) != kOfEverybody.end()) return true;
  const std::optional<Role> needed = RoleFor(method);
  if (!needed) return false;
  return *needed == role || (*needed == Role::kRead && role == Role::kSubmit);
}

}  // namespace hone::tuner
