// The interceptors that see a server's calls besides its services, to count or to note them.
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
