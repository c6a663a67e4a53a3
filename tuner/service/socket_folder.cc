#include "tuner/service/socket_folder.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "support/daemon_address.h"
#include "support/status.h"

namespace hone::tuner {
namespace {

absl::Status CheckFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::InvalidArgumentError(
        fmt::format("cannot make the socket's folder {}: {}", folder, std::strerror(errno)));
  }
  // Not through a link: who made it could lead it elsewhere later.
  struct stat info = {};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(fmt::format(
        "expected a folder for the socket at {}, found something else or a link", folder));
  }
  if (info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "others may enter {}; put the socket into a folder of mode 0700 that is yours", folder));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareSocket(const std::string& path) {
  const sockaddr_un address = {};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        fmt::format("a socket's path has 1 to {} bytes, \"{}\" has {}",
                    sizeof(address.sun_path) - 1, path, path.size()));
  }
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  HONE_RETURN_IF_ERROR(CheckFolder(folder));
  if (IsServed(path)) {
    return absl::UnavailableError(
        fmt::format("another daemon serves {}; choose another socket", path));
  }
  struct stat info = {};
  if (lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) {
      return absl::InvalidArgumentError(
          fmt::format("{} is there and no socket; choose another path", path));
    }
    unlink(path.c_str());
  }
  return absl::OkStatus();
}

}  // namespace hone::tuner
