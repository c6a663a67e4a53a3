// AuthService of proto/hone/v1/auth.proto.
#ifndef HONE_TUNER_SERVICE_AUTH_SERVICE_H_
#define HONE_TUNER_SERVICE_AUTH_SERVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "support/clock.h"
#include "tuner/service/callers.h"
#include "tuning_db/grant_store.h"

namespace grpc {
class Service;
}

namespace hone::tuner {

struct AuthServiceParts {
  tuning_db::GrantStore* store = nullptr;
  const Clock* clock = nullptr;
  // Called when the set of those who may call has changed.
  std::function<void()> changed;
  // Where clients dial the daemon, and the certificate that they are to trust there; empty: the
  // daemon serves no network.
  std::function<std::string()> host_port;
  std::string certificate;
  std::string certificate_file;  // the server's own, which may be renewed
  Callers* callers = nullptr;
};

// What `parts` points to outlives the server that the service is part of.
std::unique_ptr<grpc::Service> MakeAuthService(AuthServiceParts parts);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_AUTH_SERVICE_H_
