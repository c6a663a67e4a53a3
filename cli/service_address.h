// Finds the daemon that a verb speaks with.
#ifndef HONE_CLI_SERVICE_ADDRESS_H_
#define HONE_CLI_SERVICE_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone::cli {

// The server that the user names: `server` (as ReadServerAddress takes it) if it is given, or else
// the one of HONE_SERVER, unless `database` is given. Empty: the user names none.
absl::StatusOr<std::string> NamedServer(const std::string& server, const std::string& database);

// The service that a verb speaks with: NamedServer, or else the one that holds `database`. If
// neither is given, the one that holds the default database, or if nobody holds it, the one at the
// default socket, unless other users could have put that socket there. Empty: there is no such
// service, or a private daemon has the database, which speaks with its client only.
absl::StatusOr<std::string> ServiceAddress(const std::string& server, const std::string& database);
// As ServiceAddress, for verbs that need a service. kUnavailable if there is none;
// kFailedPrecondition if somebody who serves no others has the database, whom the message names;
// kPermissionDenied if the default socket is not safe to dial.
absl::StatusOr<std::string> DaemonAddress(const std::string& server, const std::string& database);

// The address as people may see it: without the secret of a join string.
std::string ServerName(const std::string& address);
// The address for command lines that are printed: as it was given, unless it is a secret itself.
std::string ServerArgument(const std::string& address);

}  // namespace hone::cli

#endif  // HONE_CLI_SERVICE_ADDRESS_H_
