// Threads of a block that meet at barriers, one after the other on the calling thread.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_BLOCK_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_BLOCK_H_

#include <cstddef>
#include <functional>

// Calls run(0) to run(count - 1), each on a stack of its own. Each goes on where it was when all
// have called MeetInBlock, in turns from the first to the last and from the last to the first.
// Returns whether they ended together: it is false, and what still waited is dropped, where some
// ended before a barrier that others wait at, or the threads of a group did not meet.
bool RunBlock(size_t count, const std::function<void(size_t)>& run);

// These two only within a call of RunBlock.
void MeetInBlock();
// Each `threads` threads, 32 or 128, are a group. Returns when all of them are at the instruction
// of this number, the last of which has called `all` with the `own` of each.
void MeetInGroup(unsigned threads, unsigned instruction, void* own, void (*all)(void* const* own));

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_BLOCK_H_
