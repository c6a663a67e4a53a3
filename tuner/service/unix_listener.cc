#include "tuner/service/unix_listener.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "support/file_system.h"

namespace hone::tuner {
namespace {

constexpr int kBacklog = 128;
constexpr int kRetryMs = 100;

absl::Status Bind(int fd, const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof(address.sun_path) - 1));
  // The mode is set before the socket has a name, so that nobody else may ever dial.
  if (fchmod(fd, 0600) != 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(fd, kBacklog) != 0) {
    return ErrnoStatus(errno, "cannot listen on", path);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsOwnUser(uid_t peer) { return peer == geteuid() || peer == 0; }

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Listen(const std::string& path) {
  const int stop_fd = eventfd(0, EFD_CLOEXEC);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const absl::Status bound =
      fd < 0 || stop_fd < 0 ? ErrnoStatus(errno, "cannot make a socket for", path) : Bind(fd, path);
  if (bound.ok()) return std::unique_ptr<UnixListener>(new UnixListener(path, fd, stop_fd));
  if (fd >= 0) close(fd);
  if (stop_fd >= 0) close(stop_fd);
  return bound;
}

UnixListener::~UnixListener() {
  Stop();
  unlink(path_.c_str());
  close(fd_);
  close(stop_fd_);
}

void UnixListener::Serve(std::function<void(int fd, const Peer& peer)> take,
                         std::function<bool(uid_t peer)> is_allowed) {
  take_ = std::move(take);
  is_allowed_ = std::move(is_allowed);
  thread_ = std::thread([this] { Loop(); });
}

void UnixListener::Stop() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_fd_, 1);
  thread_.join();
}

void UnixListener::Loop() {
  while (true) {
    pollfd polled[] = {{stop_fd_, POLLIN, 0}, {fd_, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0 && errno != EINTR) return;
    if (polled[0].revents != 0) return;
    if (polled[1].revents != 0) AcceptOne();
  }
}

void UnixListener::AcceptOne() {
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    const bool is_passing = errno == EINTR || errno == EAGAIN || errno == ECONNABORTED;
    if (is_passing) return;
    spdlog::error("a connection waits: {}", std::strerror(errno));  // out of descriptors
    pollfd stop = {stop_fd_, POLLIN, 0};
    poll(&stop, 1, kRetryMs);
    return;
  }
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && is_allowed_(peer.uid)) {
    take_(fd, {peer.pid, peer.uid});
    return;
  }
  spdlog::warn("refused a connection of user {} (process {}): this daemon serves user {} only",
               peer.uid, peer.pid, geteuid());
  close(fd);
}

}  // namespace hone::tuner
