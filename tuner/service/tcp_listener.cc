#include "tuner/service/tcp_listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"

namespace hone::tuner {
namespace {

constexpr int kTcpBacklog = 1024;
constexpr int kTries = 16;

struct Address {
  sockaddr_storage bytes = {};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
  bool IsIpv6() const { return bytes.ss_family == AF_INET6; }
  uint16_t& Port() {
    return IsIpv6() ? reinterpret_cast<sockaddr_in6*>(&bytes)->sin6_port
                    : reinterpret_cast<sockaddr_in*>(&bytes)->sin_port;
  }
};

absl::Status NoAddress(const std::string& host_port, const std::string& why) {
  return absl::InvalidArgumentError(
      fmt::format("expected HOST:PORT to listen at, found \"{}\": {}", host_port, why));
}

struct Place {
  std::vector<Address> addresses;
  bool is_any = false;  // one address of these is enough
  uint16_t port = 0;
};

absl::StatusOr<Place> Resolve(const std::string& host_port) {
  const size_t colon = host_port.rfind(':');
  int port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(host_port.substr(colon + 1), &port) ||
      port < 0 || port > UINT16_MAX) {
    return NoAddress(host_port, "the port is a number below 65,536 behind the last colon");
  }
  Place place;
  place.port = static_cast<uint16_t>(port);
  std::string host = host_port.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  // A socket of [::] takes connections of both families.
  place.is_any = host.empty() || host == "0.0.0.0" || host == "::";
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  if (place.is_any) hints.ai_family = AF_INET6;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const int code = getaddrinfo(place.is_any ? "::" : host.c_str(), service.c_str(), &hints, &found);
  if (code != 0) return NoAddress(host_port, gai_strerror(code));
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Address address;
    std::memcpy(&address.bytes, at->ai_addr, at->ai_addrlen);
    address.size = at->ai_addrlen;
    place.addresses.push_back(address);
  }
  freeaddrinfo(found);
  if (place.is_any) {  // where the machine has no IPv6
    Address address;
    auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&address.bytes);
    ipv4->sin_family = AF_INET;
    address.size = sizeof(*ipv4);
    place.addresses.push_back(address);
  }
  return place;
}

// A descriptor, or -1 and errno. Not SO_REUSEPORT: another daemon's port is not shared.
int ListenAt(Address& address) {
  const int fd = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int on = 1;
  const int off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // connections inherit it
  if (address.IsIpv6()) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(fd, address.get(), address.size) == 0 && listen(fd, kTcpBacklog) == 0 &&
      getsockname(fd, address.get(), &address.size) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

void CloseAll(std::vector<int>& sockets) {
  for (const int fd : sockets) close(fd);
  sockets.clear();
}

// Listens at one port of all addresses but those that this machine does not have; *port: asked for
// (0: any), then found. Sets errno where it returns none.
std::vector<int> ListenAtAll(std::vector<Address> addresses, bool is_any, uint16_t* port) {
  std::vector<int> sockets;
  int error = 0;
  for (Address& address : addresses) {
    address.Port() = *port;
    const int fd = ListenAt(address);
    if (fd < 0) {
      error = errno;
      if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) continue;
      CloseAll(sockets);
      break;
    }
    *port = address.Port();
    sockets.push_back(fd);
    if (is_any) break;
  }
  errno = error;
  return sockets;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TcpListener>> TcpListener::Listen(const std::string& host_port) {
  auto place = Resolve(host_port);
  if (!place.ok()) return place.status();
  std::vector<int> sockets;
  uint16_t port = 0;
  // A port that is free at one address may be taken at the next.
  for (int tries = place->port == 0 ? kTries : 1; sockets.empty() && tries > 0; --tries) {
    port = htons(place->port);
    sockets = ListenAtAll(place->addresses, place->is_any, &port);
  }
  if (sockets.empty()) {
    return absl::UnavailableError(
        fmt::format("cannot listen at {}: {}; is the address this machine's, and the port free?",
                    host_port, std::strerror(errno)));
  }
  auto loop = AcceptLoop::Make(std::move(sockets), host_port);
  if (!loop.ok()) return loop.status();
  return std::unique_ptr<TcpListener>(new TcpListener(ntohs(port), *std::move(loop)));
}

}  // namespace hone::tuner
