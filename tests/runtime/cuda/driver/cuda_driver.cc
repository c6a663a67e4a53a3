// A library with the interface of NVIDIA's driver and one device, which is this processor. Code in
// PTX is translated to C++ (ptx_to_cxx.py), compiled and run thread by thread. Like the real one,
// the driver refuses what is called without a current context, keeps the order of a stream, runs
// graphs in an order that only their edges decide (graph.h), and fails for good once a kernel has
// faulted. An access beyond the end of a block of memory ends the process.
#include "tests/runtime/cuda/driver/cuda_driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/paths.h"
#include "tests/runtime/cuda/driver/block.h"
#include "tests/runtime/cuda/driver/graph.h"
#include "tests/runtime/cuda/driver/guarded_memory.h"
#include "tests/runtime/cuda/driver/place.h"

namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kInvalidContext = 201;
constexpr int kInvalidPtx = 218;
constexpr int kNotFound = 500;
constexpr int kIllegalAddress = 700;
constexpr int kNotSupported = 801;

constexpr size_t kMemoryBytes = size_t{1} << 32;
constexpr int kThreads = 1024;
constexpr int kSharedBytes = 227 << 10;

using Kernel = void (*)(void** parameters, const Place& place);

struct Entry {
  Kernel run = nullptr;
  int parameters = 0;
  bool meets = false;  // whether its threads wait for each other
  // What shared memory begins at a multiple of, so that descriptors of matrices have it.
  size_t shared_alignment = 1;
};
struct Code {
  void* library = nullptr;
  std::map<std::string, Entry> entries;  // found so far
};

struct Launch {
  const Entry* entry = nullptr;
  Place place = {};
  std::vector<void*> values;
  size_t shared_bytes = 0;
};
// As CUDA_KERNEL_NODE_PARAMS_v1.
struct KernelNode {
  const Entry* entry;
  unsigned blocks[3];
  unsigned threads[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};

CudaDriverCounts g_counts;
int g_fault = 0;  // what every call gives from then on
int g_depth = 0;  // of contexts pushed by this thread
bool g_refuses_early_starts = false;

int Ready() { return g_fault != 0 ? g_fault : g_depth == 0 ? kInvalidContext : 0; }

template <typename Visit>
void ForEach(const unsigned (&extents)[3], unsigned (&at)[3], const Visit& visit) {
  for (at[2] = 0; at[2] < extents[2]; ++at[2]) {
    for (at[1] = 0; at[1] < extents[1]; ++at[1]) {
      for (at[0] = 0; at[0] < extents[0]; ++at[0]) visit();
    }
  }
}

// The threads of one block, one after the other or, where they meet at barriers, in turns.
void RunThreads(const Entry& entry, void** parameters, Place place) {
  if (!entry.meets) {
    ForEach(place.threads, place.thread, [&] { entry.run(parameters, place); });
    return;
  }
  std::vector<Place> places;
  ForEach(place.threads, place.thread, [&] { places.push_back(place); });
  const bool ended = RunBlock(places.size(), [&](size_t i) { entry.run(parameters, places[i]); });
  if (!ended) *place.fault = true;
}

void Run(const Launch& launch) {
  std::vector<void*> values = launch.values;
  std::vector<void*> parameters;
  for (void*& value : values) parameters.push_back(&value);
  bool fault = false;
  const size_t alignment = launch.entry->shared_alignment;
  const uint64_t shared = MapGuarded((launch.shared_bytes + alignment - 1) / alignment * alignment);
  Place place = launch.place;
  place.fault = &fault;
  place.meet = MeetInBlock;
  place.meet_group = MeetInGroup;
  place.shared = reinterpret_cast<unsigned char*>(shared);
  ForEach(place.blocks, place.block, [&] {
    // What is read before it is written is seen.
    std::memset(place.shared, 0xfb, launch.shared_bytes);
    RunThreads(*launch.entry, parameters.data(), place);
  });
  UnmapGuarded(shared);
  if (fault) g_fault = kIllegalAddress;
}

// Takes the launch's parameters as they are now. An error's number if it cannot be launched.
int MakeLaunch(const KernelNode& node, Launch* launch) {
  const bool is_too_large = node.threads[0] * node.threads[1] * node.threads[2] > kThreads ||
                            node.blocks[1] > 65535 || node.blocks[2] > 65535 ||
                            node.shared_bytes > kSharedBytes;
  if (is_too_large || node.blocks[0] * node.blocks[1] * node.blocks[2] == 0) return kInvalidValue;
  launch->entry = node.entry;
  std::copy(std::begin(node.blocks), std::end(node.blocks), launch->place.blocks);
  std::copy(std::begin(node.threads), std::end(node.threads), launch->place.threads);
  launch->shared_bytes = node.shared_bytes;
  for (int i = 0; i < node.entry->parameters; ++i) {
    launch->values.push_back(*static_cast<void**>(node.parameters[i]));
  }
  return 0;
}

namespace fs = std::filesystem;

// A folder for code, removed when the process ends.
class CodeFolder {
 public:
  CodeFolder() {
    std::string name = fs::temp_directory_path() / "hone-cuda-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~CodeFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  fs::path Next() { return path_ / std::to_string(count_++); }

 private:
  fs::path path_;
  int count_ = 0;
};

std::string ContentsOf(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

// Null with what went wrong in *log. Code is compiled once, and stays loaded.
void* Compile(const char* ptx, std::string* log) {
  static CodeFolder folder;
  static std::map<std::string, void*> known;
  if (known.contains(ptx)) return known[ptx];
  const std::string path = folder.Next();
  std::ofstream(path + ".ptx") << ptx;
  const std::string command =
      "(/usr/bin/env python3 " HONE_SOURCE_DIR "/tests/runtime/cuda/driver/ptx_to_cxx.py " + path +
      ".ptx " + path + ".cc && c++ -std=c++20 -O1 -w -shared -fPIC -march=native " + path +
      ".cc -o " + path + ".so) 2>" + path + ".log";
  void* library = nullptr;
  if (std::system(command.c_str()) == 0) library = dlopen((path + ".so").c_str(), RTLD_NOW);
  if (library == nullptr) *log = ContentsOf(path + ".log");
  if (library != nullptr) known[ptx] = library;
  return library;
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
void cuda_driver_recover() {
  g_fault = 0;
  g_refuses_early_starts = false;
}
void cuda_driver_refuse_early_starts() { g_refuses_early_starts = true; }

int cuInit(unsigned) {
  // Like the real one, which finds no devices where it may not open their files.
  const char* const file = std::getenv("HONE_TEST_CUDA_FILE");
  return file == nullptr || access(file, R_OK | W_OK) == 0 ? 0 : kNoDevice;
}
int cuGetErrorName(int result, const char** name) {
  static const std::map<int, const char*> names = {{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                   {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
                                                   {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                                                   {kInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                   {kNotFound, "CUDA_ERROR_NOT_FOUND"},
                                                   {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  const auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? kInvalidValue : 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12030;
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
  if (g_depth == 0) return kInvalidContext;
  --g_depth;
  return 0;
}

int cuMemAlloc_v2(uint64_t* address, size_t size_bytes) {
  if (const int fault = Ready()) return fault;
  if (size_bytes > kMemoryBytes) return kOutOfMemory;
  *address = MapGuarded(size_bytes);
  if (*address == 0) return kOutOfMemory;
  std::memset(reinterpret_cast<void*>(*address), 0xff, size_bytes);
  ++g_counts.objects;
  return 0;
}
int cuMemFree_v2(uint64_t address) { return UnmapGuarded(address) ? Free(nullptr) : kInvalidValue; }
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

int cuGraphCreate(Graph** graph, unsigned) {
  if (const int fault = Ready()) return fault;
  return Make(graph, new Graph());
}
int cuGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                         const KernelNode* kernel) {
  if (const int fault = Ready()) return fault;
  Launch launch;
  if (const int fault = MakeLaunch(*kernel, &launch)) return fault;
  *node = graph->Add([launch = std::move(launch)] { Run(launch); }, after, count);
  return *node != nullptr ? 0 : kInvalidValue;
}
int cuGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count) {
  if (const int fault = Ready()) return fault;
  *node = graph->Add(nullptr, after, count);
  return *node != nullptr ? 0 : kInvalidValue;
}
int cuGraphAddDependencies_v2(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                              const GraphEdge* edges, size_t count) {
  if (const int fault = Ready()) return fault;
  return graph->Connect(from, to, edges, count) ? 0 : kInvalidValue;
}
int cuGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, unsigned long long) {
  if (const int fault = Ready()) return fault;
  if (g_refuses_early_starts && graph->early_edges() > 0) {
    ++g_counts.refused_graphs;
    return kNotSupported;
  }
  auto made = std::make_unique<GraphExec>(*graph);
  if (made->has_cycle()) return kInvalidValue;
  ++g_counts.graphs;
  g_counts.edges += graph->edges();
  g_counts.early_edges += graph->early_edges();
  return Make(exec, made.release());
}
int cuGraphLaunch(GraphExec* exec, void*) {
  if (const int fault = Ready()) return fault;
  ++g_counts.graph_launches;
  exec->Run();
  return 0;
}
int cuGraphExecDestroy(GraphExec* exec) {
  delete exec;
  return Free(nullptr);
}
int cuGraphDestroy(Graph* graph) {
  delete graph;
  return Free(nullptr);
}

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

int cuModuleLoadDataEx(Code** module, const void* image, unsigned count, int* options,
                       void** values) {
  if (const int fault = Ready()) return fault;
  std::string log;
  if (void* const library = Compile(static_cast<const char*>(image), &log)) {
    return Make(module, new Code{library, {}});
  }
  constexpr int kErrorLog = 5;
  if (count > 1 && options[0] == kErrorLog) {
    const size_t most = reinterpret_cast<size_t>(values[1]) - 1;
    std::strcpy(static_cast<char*>(values[0]), log.substr(0, most).c_str());
  }
  return kInvalidPtx;
}
int cuModuleUnload(Code* module) {
  delete module;
  return Free(nullptr);
}
int cuModuleGetFunction(const Entry** function, Code* module, const char* name) {
  if (const int fault = Ready()) return fault;
  Entry& entry = module->entries[name];
  entry.run = reinterpret_cast<Kernel>(dlsym(module->library, name));
  const void* const count = dlsym(module->library, (std::string(name) + "_parameters").c_str());
  if (entry.run == nullptr || count == nullptr) return kNotFound;
  entry.parameters = *static_cast<const int*>(count);
  const void* const alignment = dlsym(module->library, "shared_alignment");
  if (alignment != nullptr) entry.shared_alignment = *static_cast<const int*>(alignment);
  entry.meets = dlsym(module->library, (std::string(name) + "_meets").c_str()) != nullptr;
  *function = &entry;
  return 0;
}
int cuFuncSetAttribute(const Entry*, int, int value) {
  return value <= kSharedBytes ? Ready() : kInvalidValue;
}
int cuLaunchKernel(const Entry* entry, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads_x, unsigned threads_y, unsigned threads_z,
                   unsigned shared_bytes, void*, void** parameters, void**) {
  if (const int fault = Ready()) return fault;
  Launch launch;
  const KernelNode node = {entry,
                           {blocks_x, blocks_y, blocks_z},
                           {threads_x, threads_y, threads_z},
                           shared_bytes,
                           parameters,
                           nullptr};
  if (const int fault = MakeLaunch(node, &launch)) return fault;
  ++g_counts.single_launches;
  Run(launch);
  return 0;
}

}  // extern "C"
