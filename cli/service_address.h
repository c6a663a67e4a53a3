// Which daemon a verb speaks with.
#ifndef HONE_CLI_SERVICE_ADDRESS_H_
#define HONE_CLI_SERVICE_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone::cli {

// What the user names: `server` (as ReadServerAddress takes it) where it is given, else the one of
// HONE_SERVER where `database` is not. Empty: none.
absl::StatusOr<std::string> NamedServer(const std::string& server, const std::string& database);

// The service that a verb speaks with: NamedServer; else the one that holds `database`; and where
// neither is given, the one that holds the default database or, if nobody does, the one at the
// default socket, unless others could have put it there. Empty: none is there, or a private daemon,
// which speaks with its client only, has the database.
absl::StatusOr<std::string> ServiceAddress(const std::string& server, const std::string& database);
// The same, for verbs that need one. kUnavailable where none is there; kFailedPrecondition says who
// has the database.
absl::StatusOr<std::string> DaemonAddress(const std::string& server, const std::string& database);

// For people: where the daemon is, without the secret of a join string.
std::string ServerName(const std::string& address);
// For command lines that are printed: the address as it was given, unless it is a secret itself.
std::string ServerArgument(const std::string& address);

}  // namespace hone::cli

#endif  // HONE_CLI_SERVICE_ADDRESS_H_
