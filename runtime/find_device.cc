#include "runtime/find_device.h"

#include "runtime/cpu_device.h"
#include "runtime/target_text.h"
#include "runtime/thread_team.h"

namespace hone {
std::shared_ptr<Device> FindDevice(const std::string& name, std::string_view target, int threads,
                                   std::string* error) {
  const std::string_view kind = KindOf(target);
  const std::string wanted = !name.empty() ? name : kind == "llvm" ? "cpu" : std::string(kind);
  if (wanted == "cpu") {
    return std::make_shared<CpuDevice>(std::make_shared<ThreadTeam>(threads));
  }
  *error = "expected the device \"cpu\", found " + wanted;
  return nullptr;
}

}  // namespace hone
