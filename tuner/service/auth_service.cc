#include "tuner/service/auth_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "hone/v1/auth.grpc.pb.h"
#include "support/clock.h"
#include "support/file_system.h"
#include "support/version.h"
#include "transport/certificates.h"
#include "tuner/grant_requests.h"
#include "tuner/service/grpc_status.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

class AuthServiceImpl final : public v1::AuthService::CallbackService {
 public:
  explicit AuthServiceImpl(AuthServiceParts parts) : parts_(std::move(parts)) {}

  grpc::ServerUnaryReactor* AddGrant(grpc::CallbackServerContext* context,
                                     const v1::AddGrantRequest* request,
                                     v1::AddGrantResponse* response) override {
    auto added = tuner::AddGrant(*parts_.store, *parts_.clock, *request);
    if (added.ok()) {
      parts_.changed();
      added->set_host_port(parts_.host_port());
      added->set_certificate(parts_.certificate);
    }
    return Answer(context, std::move(added), response);
  }

  grpc::ServerUnaryReactor* ListGrants(grpc::CallbackServerContext* context,
                                       const v1::ListGrantsRequest*,
                                       v1::ListGrantsResponse* response) override {
    return Answer(context, tuner::ListGrants(*parts_.store, *parts_.clock), response);
  }

  grpc::ServerUnaryReactor* RevokeGrants(grpc::CallbackServerContext* context,
                                         const v1::RevokeGrantsRequest* request,
                                         v1::RevokeGrantsResponse* response) override {
    auto revoked = tuner::RevokeGrants(*parts_.store, *parts_.clock, *request);
    if (revoked.ok()) parts_.changed();
    return Answer(context, std::move(revoked), response);
  }

  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context, const v1::WhoAmIRequest*,
                                   v1::WhoAmIResponse* response) override {
    const Caller caller = parts_.callers->Of(*context);
    response->set_name(caller.name);
    response->set_role(std::string(Name(caller.role)));
    response->set_ends_at_ns(caller.ends_at_ns);
    response->set_daemon(std::string("hone ") + Version());
    response->set_wall_time_ns(parts_.clock->WallTimeNs());
    response->set_certificate_ends_at_ns(CertificateEndNs());
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  // The file is read each time: a renewed certificate is served without a restart.
  int64_t CertificateEndNs() const {
    if (parts_.certificate_file.empty()) return 0;
    const absl::StatusOr<std::string> pem = ReadFile(parts_.certificate_file);
    const absl::StatusOr<int64_t> end_s = pem.ok() ? EndOf(*pem) : pem.status();
    return end_s.ok() ? *end_s * kSecondNs : 0;
  }

  template <typename Response>
  static grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                          absl::StatusOr<Response> answer, Response* response) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    if (answer.ok()) *response = *std::move(answer);
    reactor->Finish(ToGrpc(answer.status()));
    return reactor;
  }

  const AuthServiceParts parts_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAuthService(AuthServiceParts parts) {
  return std::make_unique<AuthServiceImpl>(std::move(parts));
}

}  // namespace hone::tuner
