#include "cli/grants.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "cli/daemon_stub.h"
#include "cli/exit_code.h"
#include "cli/model_options.h"
#include "cli/service_address.h"
#include "hone/v1/auth.grpc.pb.h"
#include "support/clock.h"
#include "support/status.h"
#include "tuner/grant_requests.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

class DaemonsGrants final : public Grants {
 public:
  explicit DaemonsGrants(const std::string& address) : stub_(address) {}

  absl::StatusOr<v1::AddGrantResponse> Add(const v1::AddGrantRequest& request) override {
    return stub_.Call(&Stub::AddGrant, request);
  }
  absl::StatusOr<v1::ListGrantsResponse> List() override {
    return stub_.Call(&Stub::ListGrants, v1::ListGrantsRequest());
  }
  absl::Status Revoke(const std::string& name) override {
    v1::RevokeGrantsRequest request;
    request.set_name(name);
    return stub_.Call(&Stub::RevokeGrants, request).status();
  }

 private:
  using Stub = v1::AuthService::Stub;
  const DaemonStub<v1::AuthService> stub_;
};

class StoredGrants final : public Grants {
 public:
  explicit StoredGrants(std::unique_ptr<tuning_db::Store> store) : store_(std::move(store)) {}

  absl::StatusOr<v1::AddGrantResponse> Add(const v1::AddGrantRequest& request) override {
    return tuner::AddGrant(*store_, Clock::Real(), request);
  }
  absl::StatusOr<v1::ListGrantsResponse> List() override {
    return tuner::ListGrants(*store_, Clock::Real());
  }
  absl::Status Revoke(const std::string& name) override {
    v1::RevokeGrantsRequest request;
    request.set_name(name);
    return tuner::RevokeGrants(*store_, Clock::Real(), request).status();
  }

 private:
  const std::unique_ptr<tuning_db::Store> store_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Grants>> OpenGrants(const GrantsPlace& place) {
  HONE_ASSIGN_OR_RETURN(const std::string address, ServiceAddress(place.server, place.database));
  if (!address.empty()) return std::make_unique<DaemonsGrants>(address);
  auto store = tuning_db::OpenStore(DatabasePath(place.database), tuning_db::OpenMode::kReadWrite);
  if (tuning_db::IsHeld(DatabasePath(place.database), store.status())) {
    return WithExitCode(store.status(), kBusy);
  }
  HONE_RETURN_IF_ERROR(store.status());
  return std::make_unique<StoredGrants>(*std::move(store));
}

}  // namespace hone::cli
