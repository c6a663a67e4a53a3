#include "tuner/service/audit_interceptor.h"

#include <grpcpp/grpcpp.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tuner/service/call_subject.h"

namespace hone::tuner {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

constexpr absl::string_view kOpen = "OPEN";

// gRPC has "ipv4:10.0.0.7:4711", "ipv6:%5B::1%5D:4711", and nothing that says who dialled a Unix
// socket.
std::string PeerText(const std::string& peer, const Caller& caller) {
  absl::string_view text = peer;
  if (!absl::ConsumePrefix(&text, "ipv4:") && !absl::ConsumePrefix(&text, "ipv6:")) {
    return caller.identity;
  }
  return absl::StrReplaceAll(text, {{"%5B", "["}, {"%5D", "]"}, {"%25", "%"}});
}

class AuditInterceptor final : public Interceptor {
 public:
  AuditInterceptor(AuditLog* log, const Callers* callers, grpc::experimental::ServerRpcInfo* info)
      : log_(log),
        callers_(callers),
        context_(info->server_context()),
        is_stream_(info->type() != grpc::experimental::ServerRpcInfo::Type::UNARY) {
    call_.method = info->method();
  }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      // A caller whose grant is revoked meanwhile has no name in the end.
      const Caller caller = callers_->Of(*context_);
      call_.caller = caller.name;
      call_.peer = PeerText(context_->peer(), caller);
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      Receive(methods->GetRecvMessage());
    }
    if (!is_stream_ &&
        methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      AddSubjectOfResponse(call_.method, methods->GetSendMessage(), call_.subject);
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      const auto code = static_cast<absl::StatusCode>(methods->GetSendStatus().error_code());
      call_.outcome = absl::StatusCodeToString(code);
      log_->Note(call_);
    }
    methods->Proceed();
  }

 private:
  void Receive(const void* message) {
    if (has_begun_ || message == nullptr) return;
    has_begun_ = true;
    AddSubjectOfRequest(call_.method, message, call_.subject);
    if (!is_stream_) return;
    call_.outcome = std::string(kOpen);
    log_->Note(call_);
  }

  AuditLog* const log_;
  const Callers* const callers_;
  grpc::ServerContextBase* const context_;
  const bool is_stream_;
  bool has_begun_ = false;  // its first message is here
  AuditLog::Call call_;
};

class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  Factory(AuditLog* log, const Callers* callers) : log_(log), callers_(callers) {}
  Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override {
    return new AuditInterceptor(log_, callers_, info);
  }

 private:
  AuditLog* const log_;
  const Callers* const callers_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAuditInterceptors(
    AuditLog* log, const Callers* callers) {
  return std::make_unique<Factory>(log, callers);
}

}  // namespace hone::tuner
