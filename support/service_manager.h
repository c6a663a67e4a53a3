// Tells the service manager that started this program (systemd with Type=notify) what the program's
// state is. The protocol is that of sd_notify: a datagram to the socket that NOTIFY_SOCKET names.
// It is implemented here because libsystemd would bring five libraries into a worker's image.
#ifndef HONE_SUPPORT_SERVICE_MANAGER_H_
#define HONE_SUPPORT_SERVICE_MANAGER_H_

#include <cstdint>
#include <string_view>

namespace hone {

// `state` is "READY=1", "STOPPING=1", "WATCHDOG=1" or "STATUS=...", or several of these, each on
// its own line. False if no service manager asked to be told, or if it cannot be reached. Never
// blocks.
bool TellServiceManager(std::string_view state);

// The service manager kills this process if it does not send "WATCHDOG=1" at least once in this
// many nanoseconds. 0 if the service manager does not ask for that.
int64_t WatchdogIntervalNs();

}  // namespace hone

#endif  // HONE_SUPPORT_SERVICE_MANAGER_H_
