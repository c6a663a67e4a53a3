// How much memory is left on this machine, or in the container that the process runs in.
#ifndef HONE_MEASURE_SERVER_AVAILABLE_MEMORY_H_
#define HONE_MEASURE_SERVER_AVAILABLE_MEMORY_H_

#include <cstdint>

namespace hone::measure {

// The bytes that can be allocated without swapping, as the system estimates them; UINT64_MAX if it
// does not say.
uint64_t AvailableMemoryBytes();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_AVAILABLE_MEMORY_H_
