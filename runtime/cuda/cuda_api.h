// The functions of NVIDIA's driver, loaded at run time, with the types that they need. Hone neither
// links nor includes anything of CUDA, so it builds, and models for other devices run, on machines
// without it.
#ifndef HONE_RUNTIME_CUDA_CUDA_API_H_
#define HONE_RUNTIME_CUDA_CUDA_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace hone::cuda {

// The driver's types (cuda.h) under names of our own. Handles are opaque pointers.
using Result = int;
using DeviceId = int;
using Address = uint64_t;  // CUdeviceptr
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using DriverModule = struct ModuleObject*;
using Function = struct FunctionObject*;
using Graph = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using GraphExec = struct GraphExecObject*;

// What a node of a graph launches (CUDA_KERNEL_NODE_PARAMS_v1).
struct KernelLaunch {
  Function function;
  unsigned blocks[3];
  unsigned threads[3];
  unsigned shared_bytes;
  void** parameters;  // the place of each argument, which the driver copies
  void** extra;
};
static_assert(sizeof(KernelLaunch) == 56 && offsetof(KernelLaunch, parameters) == 40);

// The kind of an edge of a graph (CUgraphEdgeData).
struct EdgeData {
  uint8_t from_port;
  uint8_t to_port;
  uint8_t type;
  uint8_t reserved[5];
};
static_assert(sizeof(EdgeData) == 8);
// A programmatic dependency: the second kernel may start when all blocks of the first have
// triggered or ended (CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC and
// CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC).
constexpr EdgeData kEarlyStart = {1, 0, 1, {}};

// The values of the driver's enumerations that are used here.
constexpr Result kSuccess = 0;
constexpr Result kOutOfMemory = 2;
constexpr int kMaxThreadsPerBlock = 1;  // CUdevice_attribute
constexpr int kMultiprocessorCount = 16;
constexpr int kL2CacheSize = 38;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kMaxSharedMemoryPerBlockOptin = 97;
constexpr int kMaxDynamicSharedSizeBytes = 8;  // CUfunction_attribute
constexpr int kErrorLogBuffer = 5;             // CUjit_option
constexpr int kErrorLogBufferSizeBytes = 6;
constexpr unsigned kStreamNonBlocking = 1;
// CU_STREAM_LEGACY: the default stream that all threads share. Only programs that ask for it have
// another default stream for each thread.
inline const Stream kLegacyStream = reinterpret_cast<Stream>(uintptr_t{1});

// The driver's functions that the runtime calls. All exist since CUDA 11.4 unless they say more.
struct CudaApi {
  // Returns the table of functions. The first call loads libcuda.so.1, which stays loaded, and
  // initialises the driver. Null with a sentence in *error if there is no such library, if it is
  // older than CUDA 11.4, or if it does not start, as on a machine without a GPU. Thread-safe.
  static const CudaApi* Get(std::string* error);

  Result (*Init)(unsigned flags);
  Result (*GetErrorName)(Result result, const char** name);
  Result (*DriverGetVersion)(int* version);
  Result (*DeviceGetCount)(int* count);
  Result (*DeviceGet)(DeviceId* device, int number);
  Result (*DeviceGetName)(char* name, int size, DeviceId device);
  Result (*DeviceGetAttribute)(int* value, int attribute, DeviceId device);
  Result (*DevicePrimaryCtxRetain)(Context* context, DeviceId device);
  Result (*DevicePrimaryCtxRelease)(DeviceId device);
  Result (*CtxPushCurrent)(Context context);
  Result (*CtxPopCurrent)(Context* context);
  Result (*MemAlloc)(Address* address, size_t size_bytes);
  Result (*MemFree)(Address address);
  Result (*MemsetD8Async)(Address address, uint8_t value, size_t count, Stream stream);
  Result (*MemcpyHtoDAsync)(Address to, const void* from, size_t size_bytes, Stream stream);
  Result (*MemcpyDtoHAsync)(void* to, Address from, size_t size_bytes, Stream stream);
  Result (*MemcpyDtoDAsync)(Address to, Address from, size_t size_bytes, Stream stream);
  Result (*StreamCreate)(Stream* stream, unsigned flags);
  Result (*StreamDestroy)(Stream stream);
  Result (*StreamSynchronize)(Stream stream);
  Result (*GraphCreate)(Graph* graph, unsigned flags);
  Result (*GraphAddKernelNode)(GraphNode* node, Graph graph, const GraphNode* after, size_t count,
                               const KernelLaunch* launch);
  Result (*GraphAddEmptyNode)(GraphNode* node, Graph graph, const GraphNode* after, size_t count);
  // Since CUDA 12.3; null in older drivers.
  Result (*GraphAddDependencies)(Graph graph, const GraphNode* from, const GraphNode* to,
                                 const EdgeData* edges, size_t count);
  Result (*GraphInstantiateWithFlags)(GraphExec* exec, Graph graph, unsigned long long flags);
  Result (*GraphLaunch)(GraphExec exec, Stream stream);
  Result (*GraphExecDestroy)(GraphExec exec);
  Result (*GraphDestroy)(Graph graph);
  Result (*EventCreate)(Event* event, unsigned flags);
  Result (*EventRecord)(Event event, Stream stream);
  Result (*EventElapsedTime)(float* milliseconds, Event start, Event end);
  Result (*EventDestroy)(Event event);
  Result (*ModuleLoadDataEx)(DriverModule* module, const void* image, unsigned option_count,
                             int* options, void** values);
  Result (*ModuleUnload)(DriverModule module);
  Result (*ModuleGetFunction)(Function* function, DriverModule module, const char* name);
  Result (*FuncSetAttribute)(Function function, int attribute, int value);
  Result (*LaunchKernel)(Function function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                         unsigned threads_x, unsigned threads_y, unsigned threads_z,
                         unsigned shared_bytes, Stream stream, void** parameters, void** extra);

  // The name and number of an error: "CUDA_ERROR_ILLEGAL_ADDRESS (700)".
  std::string NameOf(Result result) const;
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_CUDA_API_H_
