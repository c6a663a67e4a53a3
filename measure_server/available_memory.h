// How much memory this machine, or the container that the process is in, still has.
#ifndef HONE_MEASURE_SERVER_AVAILABLE_MEMORY_H_
#define HONE_MEASURE_SERVER_AVAILABLE_MEMORY_H_

#include <cstdint>

namespace hone::measure {

// The memory that can be had without swapping, as the system estimates it; UINT64_MAX where it does
// not say.
uint64_t AvailableMemoryBytes();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_AVAILABLE_MEMORY_H_
