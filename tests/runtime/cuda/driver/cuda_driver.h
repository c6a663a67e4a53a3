// What a test asks of the driver of CUDA that stands in for NVIDIA's, and tells it.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_CUDA_DRIVER_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_CUDA_DRIVER_H_

extern "C" {

struct CudaDriverCounts {
  int objects;   // memory, modules, streams, events and graphs that are not freed
  int contexts;  // retained, or current in this thread
  int single_launches;
  int graphs;  // made
  int graph_launches;
};

// The counts since the process began.
CudaDriverCounts cuda_driver_counts();
// As if the process had begun anew: a fault of a kernel is forgotten.
void cuda_driver_recover();

}  // extern "C"

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_CUDA_DRIVER_H_
