#include "runtime/tile_permission.h"

#ifdef __x86_64__

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hone {
namespace {

// <asm/prctl.h> has it since Linux 5.16; headers may be older.
constexpr int kSupported = 0x1021;
constexpr uint64_t kTileData = kAskForTilesArguments[1];

// 0, or what went wrong.
int Ask() { return syscall(SYS_arch_prctl, kAskForTilesArguments[0], kTileData) == 0 ? 0 : errno; }

}  // namespace

bool AskForTiles(std::string* error) {
  static const int fault = Ask();
  if (fault == 0) return true;
  *error = std::string("the system refuses the tile registers (AMX): ") + std::strerror(fault);
  if (fault == ENOSPC) *error += "; a thread's alternate signal stack is too small to save them";
  return false;
}

bool SystemHasTiles() {
  uint64_t supported = 0;
  return syscall(SYS_arch_prctl, kSupported, &supported) == 0 && (supported >> kTileData & 1) != 0;
}

}  // namespace hone

#else

namespace hone {

bool AskForTiles(std::string* error) {
  *error = "this processor has no tile registers (AMX)";
  return false;
}

bool SystemHasTiles() { return false; }

}  // namespace hone

#endif
