#include "tuner/service/auth_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "hone/v1/auth.grpc.pb.h"
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

 private:
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
