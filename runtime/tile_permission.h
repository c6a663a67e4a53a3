// Asks the system for tile registers (AMX), which it lends only to processes that ask.
#ifndef HONE_RUNTIME_TILE_PERMISSION_H_
#define HONE_RUNTIME_TILE_PERMISSION_H_

#include <cstdint>
#include <string>

namespace hone {

// The arguments of the arch_prctl call that AskForTiles makes, for filters of system calls.
inline constexpr uint64_t kAskForTilesArguments[] = {0x1023, 18};

// Asks once, for all threads of this process and of the processes that it forks. False with a
// sentence in *error if the system refuses or knows no such registers. Thread-safe.
bool AskForTiles(std::string* error);
// Whether the system has tile registers to lend. Does not ask for them.
bool SystemHasTiles();

}  // namespace hone

#endif  // HONE_RUNTIME_TILE_PERMISSION_H_
