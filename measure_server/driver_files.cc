#include "measure_server/driver_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "support/status.h"

namespace hone::measure {

absl::StatusOr<DriverFiles> DriverFiles::Make() {
  // Not in XDG_RUNTIME_DIR, which is closed to all other users.
  HONE_ASSIGN_OR_RETURN(ScratchFolder around, ScratchFolder::Make("/tmp", "hone-device-"));
  DriverFiles files(std::move(around));
  if (chmod(files.around_.path().c_str(), 0711) == 0 && mkdir(files.path().c_str(), 0700) == 0) {
    return files;
  }
  return absl::InternalError(fmt::format("making {}: {}", files.path(), std::strerror(errno)));
}

}  // namespace hone::measure
