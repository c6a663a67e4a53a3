// Who may dial: a Unix socket is as private as the folder it is in.
#ifndef HONE_TUNER_SERVICE_SOCKET_FOLDER_H_
#define HONE_TUNER_SERVICE_SOCKET_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace hone::tuner {

// Makes the socket's folder where there is none (0700), and removes a socket that nobody serves.
// kInvalidArgument when others may enter the folder or the path is too long for a socket;
// kUnavailable when somebody serves it.
absl::Status PrepareSocket(const std::string& path);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_SOCKET_FOLDER_H_
