// What the clients of all of the daemon's services share.
#ifndef HONE_CLI_DAEMON_CHANNEL_H_
#define HONE_CLI_DAEMON_CHANNEL_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grpc {
class Channel;
class ClientContext;
class Status;
}  // namespace grpc

namespace hone::cli {

// The service that a verb speaks with: `server` ("unix:PATH") where it is given; else the one that
// holds `database`; and where neither is given, the one that holds the default database or, if
// nobody does, the one at the default socket, unless others could have put it there. Empty: none is
// there, or a private daemon, which speaks with its client only, has the database.
absl::StatusOr<std::string> ServiceAddress(const std::string& server, const std::string& database);
// The same, for verbs that need one. kUnavailable where none is there; kFailedPrecondition says who
// has the database.
absl::StatusOr<std::string> DaemonAddress(const std::string& server, const std::string& database);

// To the daemon at `address`; connects with the first call.
std::shared_ptr<grpc::Channel> DialDaemon(const std::string& address);
// Makes a call that answers at once, and gives up where it does not.
absl::Status CallDaemon(const std::string& address,
                        const std::function<grpc::Status(grpc::ClientContext*)>& call);
// kUnavailable says that nobody answers at `address`.
absl::Status FromGrpc(const grpc::Status& status, const std::string& address);

}  // namespace hone::cli

#endif  // HONE_CLI_DAEMON_CHANNEL_H_
