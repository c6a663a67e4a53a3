#include "tests/compiler/driver/device_here.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "runtime/find_device.h"

namespace hone::driver {

const std::vector<DeviceKind>& DeviceKinds() {
  static const std::vector<DeviceKind> kinds = {
      {"OpenCl", "opencl:0", "opencl -device=any", "PoCL makes one of the processor"},
      {"Cuda", "cuda:0", "cuda -arch=sm_80", "ctest runs this with a driver of the tests"}};
  return kinds;
}

bool IsHere(const DeviceKind& kind) {
  const pid_t child = fork();
  if (child == 0) {
    std::string error;
    _exit(FindDevice(kind.device, "", 1, &error) ? 0 : 1);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hone::driver
