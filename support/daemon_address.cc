#include "support/daemon_address.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace hone {

std::string DefaultDaemonSocket() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != 0) return fmt::format("{}/hone/honed.sock", runtime);
  return fmt::format("/tmp/hone-{}/honed.sock", getuid());
}

}  // namespace hone
