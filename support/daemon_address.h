// Where programs of one user find their daemon, and what they may say to it.
#ifndef HONE_SUPPORT_DAEMON_ADDRESS_H_
#define HONE_SUPPORT_DAEMON_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone {

// The Unix socket that honed serves and its clients dial where no other is named:
// $XDG_RUNTIME_DIR/hone/honed.sock, or /tmp/hone-UID/honed.sock. Makes nothing.
std::string DefaultDaemonSocket();

// Empty, or why others than this user could have put something into the folder.
std::string WhyNotPrivate(const std::string& folder);

// The default socket, where it is safe to dial: where its folder is this user's alone, or not
// there. kPermissionDenied otherwise: whoever made the folder would be told what is compiled, and
// would say what is fastest.
absl::StatusOr<std::string> DialableDefaultSocket();

// Whether somebody takes connections at this socket.
bool IsServed(const std::string& socket);

}  // namespace hone

#endif  // HONE_SUPPORT_DAEMON_ADDRESS_H_
