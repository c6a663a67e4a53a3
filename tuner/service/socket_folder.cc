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
  const std::string why = WhyNotPrivate(folder);
  if (why.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}; put the socket into a folder of mode 0700 that is yours", why));
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
