#include "support/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace hone {
namespace {

// 0 for what is no number.
int64_t NumberOf(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return 0;
  int64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  return error == std::errc() && rest == end ? number : 0;
}

}  // namespace

bool TellServiceManager(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return false;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path, length);
  // The manual's way to write the NUL that an abstract socket's name begins with.
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  const ssize_t sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
  return sent == static_cast<ssize_t>(state.size());
}

int64_t WatchdogIntervalNs() {
  const int64_t process = NumberOf("WATCHDOG_PID");
  const int64_t interval_us = NumberOf("WATCHDOG_USEC");
  const bool is_ours = process == 0 || process == static_cast<int64_t>(getpid());
  return is_ours && interval_us > 0 ? interval_us * 1000 : 0;
}

}  // namespace hone
