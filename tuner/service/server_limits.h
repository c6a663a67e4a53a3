// The limits that every gRPC server of the daemon sets its clients.
#ifndef HONE_TUNER_SERVICE_SERVER_LIMITS_H_
#define HONE_TUNER_SERVICE_SERVER_LIMITS_H_

#include <chrono>

namespace grpc {
class ServerBuilder;
}

namespace hone::tuner {

// How long calls may take to end when a server stops.
inline constexpr std::chrono::seconds kStopGrace(2);

// Sets limits of message sizes and keepalive, and turns on health checks and reflection.
void LimitServer(grpc::ServerBuilder& builder);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_SERVER_LIMITS_H_
