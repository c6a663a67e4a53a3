// A library with the interface of NVIDIA's driver and one device, which is this processor. Code
// that begins as PTX does is accepted, but not read: its kernels are those below, by their names.
// Like the real one, the driver refuses what is called without a current context, keeps the order
// of a stream, records launches into graphs, and fails for good once a kernel has faulted.
#include "tests/runtime/cuda/driver/cuda_driver.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kInvalidContext = 201;
constexpr int kInvalidPtx = 218;
constexpr int kNotFound = 500;
constexpr int kIllegalAddress = 700;

constexpr size_t kMemoryBytes = 1 << 26;
constexpr int kThreads = 1024;
constexpr int kSharedBytes = 227 << 10;

using Kernel = void (*)(void** parameters, unsigned thread);

struct KernelRow {
  const char* name;
  int parameters;
  Kernel run;  // null: faults
};

float* At(void** parameters, int i) { return *static_cast<float**>(parameters[i]); }

const KernelRow kKernels[] = {{"hone_nothing", 0, [](void**, unsigned) {}},
                              {"scale", 3,
                               [](void** p, unsigned i) {
                                 if (i < 4) At(p, 2)[i] = At(p, 0)[i] * At(p, 1)[i];
                               }},
                              {"advance", 2,
                               [](void** p, unsigned i) {
                                 if (i < 4) At(p, 1)[i] = At(p, 0)[i] + 1;
                               }},
                              {"fault", 2, nullptr}};

struct Launch {
  const KernelRow* kernel;
  unsigned threads;
  std::vector<void*> values;
};
using Graph = std::vector<Launch>;

CudaDriverCounts g_counts;
int g_fault = 0;  // what every call gives from then on
int g_depth = 0;  // of contexts pushed by this thread
Graph* g_recorded = nullptr;

int Ready() { return g_fault != 0 ? g_fault : g_depth == 0 ? kInvalidContext : 0; }

void Run(const Launch& launch) {
  if (launch.kernel->run == nullptr) {
    g_fault = kIllegalAddress;
    return;
  }
  std::vector<void*> values = launch.values;
  std::vector<void*> parameters;
  for (void*& value : values) parameters.push_back(&value);
  for (unsigned i = 0; i < launch.threads; ++i) launch.kernel->run(parameters.data(), i);
}

template <typename Object>
int Make(Object** made, Object* object) {
  *made = object;
  ++g_counts.objects;
  return 0;
}

int Free(void* object) {
  if (g_depth == 0) return kInvalidContext;
  std::free(object);
  --g_counts.objects;
  return 0;
}

}  // namespace

extern "C" {

CudaDriverCounts cuda_driver_counts() {
  CudaDriverCounts counts = g_counts;
  counts.contexts += g_depth;
  return counts;
}
void cuda_driver_recover() { g_fault = 0; }

int cuInit(unsigned) { return 0; }
int cuGetErrorName(int result, const char** name) {
  static const std::map<int, const char*> names = {{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                   {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                                                   {kInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                   {kNotFound, "CUDA_ERROR_NOT_FOUND"},
                                                   {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  const auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? kInvalidValue : 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return number == 0 ? 0 : kInvalidValue;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Test Device", static_cast<size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values = {{1, kThreads}, {16, 4}, {38, 1 << 20},
                                            {75, 8},       {76, 6}, {97, kSharedBytes}};
  const auto found = values.find(attribute);
  if (found == values.end()) return kInvalidValue;
  *value = found->second;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &g_counts;
  ++g_counts.contexts;
  return g_fault;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --g_counts.contexts;
  return 0;
}
int cuCtxPushCurrent_v2(void*) {
  ++g_depth;
  return 0;
}
int cuCtxPopCurrent_v2(void**) {
  --g_depth;
  return 0;
}

int cuMemAlloc_v2(uint64_t* address, size_t size_bytes) {
  if (const int fault = Ready()) return fault;
  if (size_bytes > kMemoryBytes) return kOutOfMemory;
  *address = reinterpret_cast<uint64_t>(std::aligned_alloc(64, size_bytes));
  std::memset(reinterpret_cast<void*>(*address), 0xff, size_bytes);
  ++g_counts.objects;
  return 0;
}
int cuMemFree_v2(uint64_t address) { return Free(reinterpret_cast<void*>(address)); }
int cuMemsetD8Async(uint64_t address, uint8_t value, size_t count, void*) {
  if (const int fault = Ready()) return fault;
  std::memset(reinterpret_cast<void*>(address), value, count);
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t size_bytes, void*) {
  if (const int fault = Ready()) return fault;
  std::memcpy(reinterpret_cast<void*>(to), from, size_bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t size_bytes, void*) {
  if (const int fault = Ready()) return fault;
  std::memcpy(to, reinterpret_cast<void*>(from), size_bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size_bytes, void*) {
  return cuMemcpyDtoHAsync_v2(reinterpret_cast<void*>(to), from, size_bytes, nullptr);
}

int cuStreamCreate(void** stream, unsigned) {
  if (const int fault = Ready()) return fault;
  return Make(stream, std::malloc(1));
}
int cuStreamDestroy_v2(void* stream) { return Free(stream); }
int cuStreamSynchronize(void*) { return Ready(); }
int cuStreamBeginCapture_v2(void*, int) {
  if (const int fault = Ready()) return fault;
  g_recorded = new Graph();
  ++g_counts.objects;
  return 0;
}
int cuStreamEndCapture(void*, Graph** graph) {
  *graph = g_recorded;
  g_recorded = nullptr;
  return Ready();
}
int cuGraphInstantiateWithFlags(Graph** exec, Graph* graph, unsigned long long) {
  if (const int fault = Ready()) return fault;
  ++g_counts.graphs;
  return Make(exec, new Graph(*graph));
}
int cuGraphLaunch(Graph* exec, void*) {
  if (const int fault = Ready()) return fault;
  ++g_counts.graph_launches;
  for (const Launch& launch : *exec) Run(launch);
  return 0;
}
int cuGraphExecDestroy(Graph* exec) {
  delete exec;
  return Free(nullptr);
}
int cuGraphDestroy(Graph* graph) { return cuGraphExecDestroy(graph); }

int cuEventCreate(void** event, unsigned) {
  if (const int fault = Ready()) return fault;
  return Make(event, std::malloc(1));
}
int cuEventRecord(void*, void*) { return Ready(); }
int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 0.5f;
  return Ready();
}
int cuEventDestroy_v2(void* event) { return Free(event); }

int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  if (const int fault = Ready()) return fault;
  if (std::strncmp(static_cast<const char*>(image), ".version", 8) == 0) {
    return Make(module, std::malloc(1));
  }
  constexpr int kErrorLog = 5;
  if (count > 0 && options[0] == kErrorLog) {
    std::strcpy(static_cast<char*>(values[0]), "line 1: syntax error");
  }
  return kInvalidPtx;
}
int cuModuleUnload(void* module) { return Free(module); }
int cuModuleGetFunction(const KernelRow** function, void*, const char* name) {
  if (const int fault = Ready()) return fault;
  for (const KernelRow& row : kKernels) {
    *function = &row;
    if (std::strcmp(row.name, name) == 0) return 0;
  }
  return kNotFound;
}
int cuFuncSetAttribute(const KernelRow*, int, int value) {
  return value <= kSharedBytes ? Ready() : kInvalidValue;
}
int cuLaunchKernel(const KernelRow* kernel, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned, void*,
                   void** parameters, void**) {
  if (const int fault = Ready()) return fault;
  Launch launch{kernel, blocks_x * blocks_y * blocks_z * threads_x * threads_y * threads_z, {}};
  for (int i = 0; i < kernel->parameters; ++i) {
    launch.values.push_back(*static_cast<void**>(parameters[i]));
  }
  if (g_recorded != nullptr) {
    g_recorded->push_back(std::move(launch));
    return 0;
  }
  ++g_counts.single_launches;
  Run(launch);
  return 0;
}

}  // extern "C"
