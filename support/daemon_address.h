// Where a user's programs find that user's daemon, and whether it is safe to connect to it.
#ifndef HONE_SUPPORT_DAEMON_ADDRESS_H_
#define HONE_SUPPORT_DAEMON_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone {

// The Unix socket that honed serves and its clients dial unless they are given another one:
// $XDG_RUNTIME_DIR/hone/honed.sock, or /tmp/hone-UID/honed.sock. Creates neither socket nor folder.
std::string DefaultDaemonSocket();

// Why users other than this one may have put something into the folder. Empty if it is a real
// folder, not a symlink, that belongs to this user and gives others no permissions.
std::string WhyNotPrivate(const std::string& folder);

// The default socket, if it is safe to dial: if its folder is private to this user (WhyNotPrivate)
// or does not exist. Otherwise kPermissionDenied, because whoever made the folder could serve the
// socket, learn what this user compiles, and answer with configs of their own.
absl::StatusOr<std::string> DialableDefaultSocket();

// Whether a process accepts connections at this socket.
bool IsServed(const std::string& socket);

}  // namespace hone

#endif  // HONE_SUPPORT_DAEMON_ADDRESS_H_
