// Implements `honed init`, which makes what a daemon needs to be reached over a network.
#ifndef HONE_TUNER_HONED_INIT_H_
#define HONE_TUNER_HONED_INIT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/clock.h"

namespace hone::tuner {

struct InitOptions {
  std::string tls;                 // the identity's folder
  std::string db;                  // a file or an address, as `honed --db` takes it
  std::string address;             // HOST:PORT at which clients will dial
  std::vector<std::string> names;  // more names of the host
};

// Makes the identity and a token for the administrator, and returns the join string with that
// token. Errors are those of ServerIdentity::Make, OpenStore and AddGrantTo; after an error, `honed
// init` may be called again.
absl::StatusOr<std::string> InitServer(const InitOptions& options, const Clock& clock);

// Makes a new certificate for the names in `options`.
absl::Status RenewServer(const InitOptions& options, const Clock& clock);

// This machine's host name with honed's default port.
std::string DefaultAddress();

}  // namespace hone::tuner

#endif  // HONE_TUNER_HONED_INIT_H_
