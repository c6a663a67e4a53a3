#include "tests/compiler/driver/opencl_here.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "runtime/find_device.h"

namespace hone::driver {

std::optional<Target> OpenClHere() {
  static const bool is_here = [] {
    const pid_t child = fork();
    if (child == 0) {
      std::string error;
      _exit(FindDevice("opencl:0", "", 1, &error) ? 0 : 1);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }();
  if (!is_here) return std::nullopt;
  return *Target::Parse("opencl -device=any");
}

}  // namespace hone::driver
