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
  int edges;        // of the graphs made
  int early_edges;  // those of them that are programmatic dependencies
  int refused_graphs;
};

// The counts since the process began.
CudaDriverCounts cuda_driver_counts();
// As if the process had begun anew: a fault of a kernel is forgotten.
void cuda_driver_recover();
// From now on the driver refuses graphs with programmatic dependencies.
void cuda_driver_refuse_early_starts();

}  // extern "C"

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_CUDA_DRIVER_H_
