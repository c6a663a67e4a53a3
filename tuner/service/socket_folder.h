// Prepares the folder of a Unix socket: the socket is as private as the folder that it is in.
#ifndef HONE_TUNER_SERVICE_SOCKET_FOLDER_H_
#define HONE_TUNER_SERVICE_SOCKET_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace hone::tuner {

// Makes the socket's folder (mode 0700) where there is none, and removes a socket that nobody
// serves. kInvalidArgument if others may enter the folder or the path is too long for a socket;
// kUnavailable if somebody serves it.
absl::Status PrepareSocket(const std::string& path);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_SOCKET_FOLDER_H_
