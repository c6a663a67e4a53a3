// What sees the calls of a server beside its services: who counts them, who notes them.
#ifndef HONE_TUNER_SERVICE_CALL_INTERCEPTORS_H_
#define HONE_TUNER_SERVICE_CALL_INTERCEPTORS_H_

#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <vector>

namespace hone::tuner {

using CallInterceptors =
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>;

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_CALL_INTERCEPTORS_H_
