#include "tuner/service/gatekeeper.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <optional>
#include <set>
#include <utility>

#include "support/digest.h"
#include "support/status.h"
#include "tuner/service/call_credentials.h"

namespace hone::tuner {
namespace {

Caller CallerOf(const tuning_db::Grant& grant) {
  // A role of a newer release allows nothing that this one knows of.
  return {.name = grant.name,
          .identity = "grant:" + grant.name,
          .role = RoleOf(grant.role).value_or(Role::kRead),
          .ends_at_ns = grant.ends_at_ns};
}

absl::Status Unknown(bool has_token, bool has_certificate) {
  if (!has_token && !has_certificate) {
    return absl::UnauthenticatedError(
        "expected a token, found none; use the whole join string that `hone auth add` printed");
  }
  return absl::UnauthenticatedError(fmt::format(
      "this {} is not known to the daemon, has ended, or was revoked; ask its administrator for a "
      "new join string (hone auth add)",
      has_token ? "token" : "certificate's name"));
}

}  // namespace

// Lets go of the call when it ends.
struct Gatekeeper::Held final : public LiveCall {
  Held(Gatekeeper* k, std::multimap<int64_t, grpc::CallbackServerContext*>::iterator e)
      : keeper(k), entry(e) {}
  ~Held() override {
    const std::lock_guard lock(keeper->mutex_);
    keeper->live_.erase(entry);
  }
  Gatekeeper* const keeper;
  const std::multimap<int64_t, grpc::CallbackServerContext*>::iterator entry;
};

absl::Status Gatekeeper::Refresh() {
  HONE_ASSIGN_OR_RETURN(const std::vector<Grant> all, store_->ListGrants());
  const int64_t now_ns = clock_->WallTimeNs();
  const std::lock_guard lock(mutex_);
  by_digest_.clear();
  by_certificate_.clear();
  std::set<int64_t> holding;
  for (const Grant& grant : all) {
    if (!grant.Holds(now_ns)) continue;
    holding.insert(grant.id);
    if (grant.token_digest.empty()) {
      by_certificate_[grant.name] = grant;
    } else {
      by_digest_[grant.token_digest] = grant;
    }
  }
  for (const auto& [id, context] : live_) {
    if (!holding.contains(id)) context->TryCancel();
  }
  return absl::OkStatus();
}

const tuning_db::Grant* Gatekeeper::Find(std::string_view token,
                                         std::string_view certificate_name) const {
  const Grant* found = nullptr;
  if (!token.empty()) {
    const auto entry = by_digest_.find(Sha256Hex(token));
    if (entry != by_digest_.end()) found = &entry->second;
  } else if (!certificate_name.empty()) {
    const auto entry = by_certificate_.find(std::string(certificate_name));
    if (entry != by_certificate_.end()) found = &entry->second;
  }
  return found != nullptr && found->Holds(clock_->WallTimeNs()) ? found : nullptr;
}

absl::StatusOr<Caller> Gatekeeper::Admit(std::string_view token, std::string_view certificate_name,
                                         std::string_view method) const {
  std::optional<Caller> caller;
  {
    const std::lock_guard lock(mutex_);
    const Grant* const grant = Find(token, certificate_name);
    if (grant != nullptr) caller = CallerOf(*grant);
  }
  absl::Status status;
  if (!caller) {
    status = Unknown(!token.empty(), !certificate_name.empty());
  } else if (!MayCall(caller->role, method)) {
    status = absl::PermissionDeniedError(
        fmt::format("\"{}\" {}", caller->name, WhatIsDenied(caller->role, method)));
  }
  if (witness_) witness_({caller ? caller->name : "", std::string(method), status});
  if (!status.ok()) return status;
  return *std::move(caller);
}

const tuning_db::Grant* Gatekeeper::FindFor(const grpc::ServerContextBase& context) const {
  return Find(TokenIn(context.client_metadata()), CertificateNameIn(*context.auth_context()));
}

Caller Gatekeeper::Of(const grpc::ServerContextBase& context) const {
  const std::lock_guard lock(mutex_);
  const Grant* const grant = FindFor(context);
  // It was revoked since the call was let in, and is nobody's by now.
  if (grant == nullptr) return {.name = "", .identity = "grant:", .role = Role::kRead};
  return CallerOf(*grant);
}

std::unique_ptr<LiveCall> Gatekeeper::Hold(grpc::CallbackServerContext& context) {
  const std::lock_guard lock(mutex_);
  const Grant* const grant = FindFor(context);
  if (grant == nullptr) {
    context.TryCancel();
    return nullptr;
  }
  return std::make_unique<Held>(this, live_.emplace(grant->id, &context));
}

}  // namespace hone::tuner
