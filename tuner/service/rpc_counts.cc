#include "tuner/service/rpc_counts.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>

#include "tuner/role.h"

namespace hone::tuner {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

class CountingInterceptor final : public Interceptor {
 public:
  CountingInterceptor(RpcCounts* counts, const char* method) : counts_(counts), method_(method) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      counts_->Add(method_, static_cast<absl::StatusCode>(status.error_code()));
    }
    methods->Proceed();
  }

 private:
  RpcCounts* const counts_;
  const char* const method_;
};

class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(RpcCounts* counts) : counts_(counts) {}
  Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override {
    return new CountingInterceptor(counts_, info->method());
  }

 private:
  RpcCounts* const counts_;
};

}  // namespace

void RpcCounts::Add(std::string_view method, absl::StatusCode code) {
  const std::string known = RoleFor(method) ? std::string(method.substr(1)) : "other";
  const std::lock_guard lock(mutex_);
  counts_[{known, absl::StatusCodeToString(code)}] += 1;
}

RpcCounts::Counts RpcCounts::Read() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
RpcCounts::MakeInterceptors() {
  return std::make_unique<Factory>(this);
}

}  // namespace hone::tuner
