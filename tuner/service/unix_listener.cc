#include "tuner/service/unix_listener.h"

#include <spdlog/spdlog.h>
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

constexpr int kUnixBacklog = 128;

absl::Status Bind(int fd, const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof(address.sun_path) - 1));
  // The mode is set before the socket has a name, so that nobody else may ever dial.
  if (fchmod(fd, 0600) != 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(fd, kUnixBacklog) != 0) {
    return ErrnoStatus(errno, "cannot listen on", path);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsOwnUser(uid_t peer) { return peer == geteuid() || peer == 0; }

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Listen(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return ErrnoStatus(errno, "cannot make a socket for", path);
  const absl::Status bound = Bind(fd, path);
  if (!bound.ok()) {
    close(fd);
    return bound;
  }
  auto loop = AcceptLoop::Make({fd}, path);
  if (loop.ok()) return std::unique_ptr<UnixListener>(new UnixListener(path, *std::move(loop)));
  unlink(path.c_str());
  return loop.status();
}

UnixListener::~UnixListener() {
  Stop();
  unlink(path_.c_str());
}

void UnixListener::Serve(std::function<void(int fd, const Peer& peer)> take,
                         std::function<bool(uid_t peer)> is_allowed) {
  loop_->Serve([take = std::move(take), is_allowed = std::move(is_allowed)](int fd) {
    ucred peer = {};
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && is_allowed(peer.uid)) {
      return take(fd, {peer.pid, peer.uid});
    }
    spdlog::warn("refused a connection of user {} (process {}): this daemon serves user {} only",
                 peer.uid, peer.pid, geteuid());
    close(fd);
  });
}

}  // namespace hone::tuner
