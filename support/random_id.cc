#include "support/random_id.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <vector>

namespace hone {

std::string RandomId(size_t bytes) {
  std::vector<unsigned char> random(bytes);
  // So few come whole once the system has any; only the wait for that can be interrupted.
  while (getrandom(random.data(), random.size(), 0) < 0 && errno == EINTR) {
  }
  std::string id;
  for (const unsigned char byte : random) id += fmt::format("{:02x}", byte);
  return id;
}

}  // namespace hone
