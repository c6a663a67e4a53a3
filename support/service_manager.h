// What a program tells the service manager that started it (systemd, Type=notify): the protocol of
// sd_notify, a datagram to the socket that NOTIFY_SOCKET names. libsystemd would bring five
// libraries into a worker's image for that.
#ifndef HONE_SUPPORT_SERVICE_MANAGER_H_
#define HONE_SUPPORT_SERVICE_MANAGER_H_

#include <cstdint>
#include <string_view>

namespace hone {

// "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=...", or several of them, a line each. False where
// no service manager asked to be told, or it is not there. Never blocks.
bool TellServiceManager(std::string_view state);

// How often "WATCHDOG=1" has to come at least for the process not to be killed, as the service
// manager asked of this process; 0: it did not.
int64_t WatchdogIntervalNs();

}  // namespace hone

#endif  // HONE_SUPPORT_SERVICE_MANAGER_H_
