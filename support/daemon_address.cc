#include "support/daemon_address.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hone {

std::string DefaultDaemonSocket() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != 0) return fmt::format("{}/hone/honed.sock", runtime);
  return fmt::format("/tmp/hone-{}/honed.sock", getuid());
}

std::string WhyNotPrivate(const std::string& folder) {
  // Not through a link: who made it could lead it elsewhere later.
  struct stat info = {};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fmt::format("expected a folder at {}, found something else or a link", folder);
  }
  if (info.st_uid != geteuid()) {
    return fmt::format("expected {} to be of user {}, found it to be of user {}", folder, geteuid(),
                       info.st_uid);
  }
  if ((info.st_mode & 077) == 0) return "";
  return fmt::format("others may enter {}", folder);
}

absl::StatusOr<std::string> DialableDefaultSocket() {
  const std::string socket = DefaultDaemonSocket();
  const std::string folder = socket.substr(0, socket.rfind('/'));
  struct stat info = {};
  if (lstat(folder.c_str(), &info) != 0 && errno == ENOENT) return socket;
  const std::string why = WhyNotPrivate(folder);
  if (why.empty()) return socket;
  return absl::PermissionDeniedError(fmt::format(
      "the default socket is not dialled: {}; remove it, or name a daemon with --server", why));
}

bool IsServed(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool is_served =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return is_served;
}

}  // namespace hone
