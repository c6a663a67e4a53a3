// Memory that ends where a page begins that cannot be touched.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_GUARDED_MEMORY_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_GUARDED_MEMORY_H_

#include <cstddef>
#include <cstdint>

// Returns the address, 0 where there is no memory.
uint64_t MapGuarded(size_t size_bytes);
// Returns whether it was mapped.
bool UnmapGuarded(uint64_t address);

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_GUARDED_MEMORY_H_
