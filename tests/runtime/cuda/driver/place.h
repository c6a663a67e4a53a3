// What a kernel of translated PTX is told of its thread.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_PLACE_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_PLACE_H_

struct Place {
  unsigned block[3], thread[3];  // the thread's own
  unsigned blocks[3], threads[3];
  bool* fault;            // set where the thread traps
  unsigned char* shared;  // the block's shared memory
  void (*meet)();         // returns when all threads of the block are there
  // Returns when the thread's group of so many, a warp or a warpgroup, has come to the instruction
  // of that number, and `all` was called with the `own` of each of its threads.
  void (*meet_group)(unsigned threads, unsigned instruction, void* own,
                     void (*all)(void* const* own));
};

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_PLACE_H_
