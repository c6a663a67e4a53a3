// What a kernel of translated PTX is told of its thread.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_PLACE_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_PLACE_H_

struct Place {
  unsigned block[3], thread[3];  // the thread's own
  unsigned blocks[3], threads[3];
  bool* fault;  // set where the thread traps
};

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_PLACE_H_
