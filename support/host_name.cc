#include "support/host_name.h"

#include <unistd.h>

#include <array>
#include <climits>

namespace hone {

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> host = {};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

}  // namespace hone
