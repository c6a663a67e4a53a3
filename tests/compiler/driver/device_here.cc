#include "tests/compiler/driver/device_here.h"

#include <sys/wait.h>
#include <unistd.h>

#include <map>
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

namespace {

bool Opens(const std::string& device) {
  const pid_t child = fork();
  if (child == 0) {
    std::string error;
    _exit(FindDevice(device, "", 1, &error) ? 0 : 1);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

// All are asked at the first call: once this process has a driver's threads, a child that loads the
// driver may wait for a lock that one of them held.
bool IsHere(const DeviceKind& kind) {
  static const std::map<std::string, bool> opens = [] {
    std::map<std::string, bool> answers;
    for (const DeviceKind& one : DeviceKinds()) answers[one.device] = Opens(one.device);
    return answers;
  }();
  return opens.at(kind.device);
}

}  // namespace hone::driver
