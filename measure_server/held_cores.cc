#include "measure_server/held_cores.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace hone::measure {
namespace {

// A process that asks who holds a core leaves a connection behind, which nobody takes.
constexpr int kBacklog = 128;

struct Address {
  sockaddr_un bytes = {};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

// Its first byte is zero: it is no path.
Address AddressOf(const std::string& prefix, int core) {
  Address address;
  address.bytes.sun_family = AF_UNIX;
  const std::string name = prefix + std::to_string(core);
  const size_t bytes = std::min(name.size(), sizeof(address.bytes.sun_path) - 1);
  std::memcpy(address.bytes.sun_path + 1, name.data(), bytes);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  return address;
}

int NewSocket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

pid_t HolderOf(const Address& address) {
  const int fd = NewSocket();
  if (fd < 0) return 0;
  ucred holder = {};
  socklen_t size = sizeof(holder);
  const bool is_told = connect(fd, address.get(), address.size) == 0 &&
                       getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &holder, &size) == 0;
  close(fd);
  return is_told ? holder.pid : 0;
}

}  // namespace

HeldCores::HeldCores(const std::vector<int>& cores, const std::string& prefix) {
  for (const int core : cores) {
    const Address address = AddressOf(prefix, core);
    const int fd = NewSocket();
    if (fd < 0) continue;
    if (bind(fd, address.get(), address.size) == 0 && listen(fd, kBacklog) == 0) {
      sockets_.push_back(fd);
      continue;
    }
    // Where the system has no such sockets, nobody holds anything.
    if (errno == EADDRINUSE) taken_.push_back({core, HolderOf(address)});
    close(fd);
  }
}

HeldCores::~HeldCores() {
  for (const int fd : sockets_) close(fd);
}

std::string HeldCores::TakenText() const {
  std::string text;
  for (const Taken& taken : taken_) {
    text += fmt::format("{}core {}", text.empty() ? "" : ", ", taken.core);
    if (taken.holder != 0) text += fmt::format(" (process {})", taken.holder);
  }
  return text;
}

}  // namespace hone::measure
