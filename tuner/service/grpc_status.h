// Converts absl::Status to grpc::Status, whose codes are the same.
#ifndef HONE_TUNER_SERVICE_GRPC_STATUS_H_
#define HONE_TUNER_SERVICE_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace hone::tuner {

inline grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_GRPC_STATUS_H_
