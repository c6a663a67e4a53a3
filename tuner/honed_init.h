// `honed init`: what a daemon needs to be dialled over a network.
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

// Makes the identity, and a token of the administrator. The join string to dial with it. Errors are
// those of ServerIdentity::Make, OpenStore and AddGrantTo; where one is met, `honed init` may be
// called again.
absl::StatusOr<std::string> InitServer(const InitOptions& options, const Clock& clock);

// A new certificate for the same names and those of `options`.
absl::Status RenewServer(const InitOptions& options, const Clock& clock);

// This machine's host name and the port that honed listens at where no other is named.
std::string DefaultAddress();

}  // namespace hone::tuner

#endif  // HONE_TUNER_HONED_INIT_H_
