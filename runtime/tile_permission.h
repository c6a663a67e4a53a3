// Tile registers (AMX) are lent by the system to processes that ask.
#ifndef HONE_RUNTIME_TILE_PERMISSION_H_
#define HONE_RUNTIME_TILE_PERMISSION_H_

#include <cstdint>
#include <string>

namespace hone {

// How AskForTiles asks, for filters of system calls: arch_prctl with these arguments.
inline constexpr uint64_t kAskForTilesArguments[] = {0x1023, 18};

// Asks for all threads of this process and of those that it forks, once; false with a sentence in
// *error where the system refuses, or knows no such registers. Thread-safe.
bool AskForTiles(std::string* error);
// Whether the system has them to lend; asks for nothing.
bool SystemHasTiles();

}  // namespace hone

#endif  // HONE_RUNTIME_TILE_PERMISSION_H_
