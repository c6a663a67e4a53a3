#include "tests/runtime/sample_modules.h"

#include <vector>

namespace hone {

std::string ScaleModule() {
  return R"(
#include "runtime/module_abi.h"
#ifndef MODULE_VERSION
#define MODULE_VERSION HONE_MODULE_ABI_VERSION
#endif
#ifndef TARGET
#define TARGET "llvm -mcpu=generic -threads=1"
#endif
#ifndef RUN_FLAGS
#define RUN_FLAGS 0
#endif
static void scale(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  const float* x = buffers[0];
  const float* p = buffers[1];
  float* y = buffers[2];
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] * p[i];
}
static const int64_t shape[1] = {4};
static const struct hone_buffer buffers[3] = {
    {"x", HONE_ROLE_INPUT, 1, 1, 0, shape, "C", 16, 0, 0},
    {"p", HONE_ROLE_CONSTANT, 1, 1, 0, shape, "C", 16, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 1, 0, shape, "C", 16, 0, 0}};
static const struct hone_launch launches[1] = {
    {"scale", scale, 4, 0, HONE_PHASE_RUN, 0, 0, RUN_FLAGS}};
static const struct hone_kernel kernels[1] = {
    {"scale", "multiply", "00", "", "tuned", 4, 1, 3, 1, buffers, launches}};
static const struct hone_value input = {"x", 1, {0}, 1, shape, 16};
static const struct hone_value output = {"y", 1, {0}, 1, shape, 16};
static const struct hone_location locations[3] = {
    {HONE_SPACE_INPUT, 0, 0}, {HONE_SPACE_PARAMETERS, 0, 0}, {HONE_SPACE_OUTPUT, 0, 0}};
static const struct hone_call calls[1] = {{0, 0, locations}};
static const struct hone_function functions[1] = {{"main", 1, 1, 1, 0, &input, &output, calls, 0}};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    MODULE_VERSION, 1, 1, 0, TARGET, "cc", kernels, functions, 16};
)";
}

std::string ChainModule() {
  return R"(
#include "runtime/module_abi.h"
#define N 1024
#ifndef FUNCTIONS
#define FUNCTIONS 1
#endif
#ifndef GRID
#define GRID N
#endif
#ifndef ARENA_BYTES
#define ARENA_BYTES (3 * 4 * N)
#endif
#ifndef BUFFER_BYTES
#define BUFFER_BYTES (4 * N)
#endif
#ifndef KERNEL
#define KERNEL 0
#endif
#ifndef DTYPE
#define DTYPE 1
#endif
#ifndef TABLE
#define TABLE launches
#endif
#ifndef OFFSET
#define OFFSET 0
#endif
/* Each step reads the mirror image of what the one before wrote: another thread's part. */
static void mirror(const float* from, float* to, int64_t begin, int64_t end, float* scratch) {
  for (int64_t i = begin; i < end; ++i) scratch[i - begin] = from[N - 1 - i] + from[(i + 1) % N];
  for (int64_t i = begin; i < end; ++i) to[i] = scratch[i - begin];
}
static void first(void* const* b, int64_t begin, int64_t end, void* s) { mirror(b[0], b[1], begin, end, s); }
static void second(void* const* b, int64_t begin, int64_t end, void* s) { mirror(b[1], b[2], begin, end, s); }
static void third(void* const* b, int64_t begin, int64_t end, void* s) { mirror(b[2], b[1], begin, end, s); }
static void fourth(void* const* b, int64_t begin, int64_t end, void* s) { mirror(b[1], b[3], begin, end, s); }
static const int64_t shape[1] = {N};
static const struct hone_buffer buffers[4] = {
    {"x", HONE_ROLE_INPUT, DTYPE, 1, 0, shape, "C", BUFFER_BYTES, 0, 0},
    {"t", HONE_ROLE_WORKSPACE, 1, 1, 0, shape, "C", 4 * N, 0, 0},
    {"u", HONE_ROLE_WORKSPACE, 1, 1, 0, shape, "C", 4 * N, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 1, 0, shape, "C", 4 * N, 0, 0}};
static const struct hone_launch launches[4] = {
    {"first", first, GRID, 4 * N, HONE_PHASE_RUN, 0, 0, 0},
    {"second", second, GRID, 4 * N, HONE_PHASE_RUN, 1, 1, 0},
    {"third", third, GRID, 4 * N, HONE_PHASE_RUN, 1, 1, 0},
    {"fourth", fourth, GRID, 4 * N, HONE_PHASE_RUN, 0, 1, 0}};
static const struct hone_kernel kernels[1] = {
    {"chain", "mirror", "00", "", "default", 0, 1, 4, 4, buffers, TABLE}};
static const struct hone_value input = {"x", 1, {0}, 1, shape, 4 * N};
static const struct hone_value output = {"y", 1, {0}, 1, shape, 4 * N};
static const struct hone_location one[4] = {{HONE_SPACE_INPUT, 0, 0}, {HONE_SPACE_ARENA, 0, OFFSET},
    {HONE_SPACE_ARENA, 0, 4 * N}, {HONE_SPACE_ARENA, 0, 8 * N}};
static const struct hone_location two[4] = {{HONE_SPACE_ARENA, 0, 8 * N}, {HONE_SPACE_ARENA, 0, 0},
    {HONE_SPACE_ARENA, 0, 4 * N}, {HONE_SPACE_OUTPUT, 0, 0}};
static const struct hone_call calls[2] = {{KERNEL, 0, one}, {0, 1, two}};
static const struct hone_function functions[1] = {
    {"main", 1, 1, 2, 0, &input, &output, calls, ARENA_BYTES}};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION, 1, FUNCTIONS, 0, "llvm -mcpu=generic -threads=2", "cc", kernels, functions, 0};
)";
}

std::string OpenClModule() {
  return R"(
#include "runtime/module_abi.h"
#ifndef TRIPS
#define TRIPS 5
#endif
#ifndef TARGET
#define TARGET "opencl -device=any"
#endif
#ifndef CODE_KIND
#define CODE_KIND HONE_CODE_OPENCL_C
#endif
#ifndef ENTRY
#define ENTRY "advance"
#endif
#ifndef ARGUMENT
#define ARGUMENT 1
#endif
#ifndef DEVICE_LAUNCHES
#define DEVICE_LAUNCHES 2
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef FUNCTION
#define FUNCTION 0
#endif
#ifndef STEP_FLAGS
#define STEP_FLAGS 0
#endif
#ifndef CODE
#define CODE \
  "kernel void scale(global char* x, ulong x_at, global char* p, ulong p_at, global char* y, ulong y_at) {" \
  "  size_t i = get_global_id(0);" \
  "  ((global float*)(y + y_at))[i] = ((global float*)(x + x_at))[i] * ((global float*)(p + p_at))[i]; }" \
  "kernel void advance(global char* a, ulong a_at, global char* b, ulong b_at) {" \
  "  size_t i = get_global_id(0);" \
  "  ((global float*)(b + b_at))[i] = ((global float*)(a + a_at))[i] + 1; }"
#endif
static const int64_t shape[1] = {4};
static const struct hone_buffer scale_buffers[3] = {
    {"x", HONE_ROLE_INPUT, 1, 1, 0, shape, "C", 16, 0, 0},
    {"p", HONE_ROLE_CONSTANT, 1, 1, 0, shape, "C", 16, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 1, 0, shape, "C", 16, 0, 0}};
static const struct hone_buffer step_buffers[2] = {
    {"a", HONE_ROLE_INPUT, 1, 1, 0, shape, "C", 16, 0, 0},
    {"b", HONE_ROLE_OUTPUT, 1, 1, 0, shape, "C", 16, 0, 0}};
static const struct hone_launch launches[2] = {
    {"scale", FUNCTION, 1, 0, HONE_PHASE_RUN, 0, 0, 0},
    {"step", FUNCTION, 1, 0, HONE_PHASE_RUN, 0, 0, STEP_FLAGS}};
static const struct hone_kernel kernels[2] = {
    {"scale", "multiply", "00", "", "tuned", 4, 1, 3, 1, scale_buffers, launches},
    {"step", "add", "01", "", "tuned", 4, 1, 2, 1, step_buffers, launches + 1}};
static const struct hone_value input = {"x", 1, {0}, 1, shape, 16};
static const struct hone_value output = {"y", 1, {0}, 1, shape, 16};
static const struct hone_location first[3] = {
    {HONE_SPACE_INPUT, 0, 0}, {HONE_SPACE_PARAMETERS, 0, 0}, {HONE_SPACE_ARENA, 0, 0}};
static const struct hone_location again[2] = {{HONE_SPACE_ARENA, 0, 0}, {HONE_SPACE_ARENA, 0, 64}};
static const struct hone_location last[2] = {{HONE_SPACE_ARENA, 0, 64}, {HONE_SPACE_OUTPUT, 0, 0}};
static const struct hone_call calls[3] = {{0, 0, first}, {1, 1, again}, {1, 1, last}};
static const struct hone_move moves[2] = {
    {{HONE_SPACE_ARENA, 0, 64}, -64, 1, 0}, {{HONE_SPACE_ARENA, 0, 0}, 64, 1, 0}};
static const struct hone_repeat repeat = {0, 1, 1, 0, TRIPS, moves};
static const struct hone_function function = {"main", 1, 1, 3, 0, &input, &output, calls, 128};
static const struct hone_device_code code = {CODE_KIND, 0, CODE, sizeof(CODE) - 1, "-cl-std=CL1.2"};
static const uint32_t arguments[3] = {0, ARGUMENT, 2};
static const struct hone_device_launch device_launches[2] = {
    {"scale", 0, 3, {2, 1, 1}, {2, 1, 1}, 0, arguments},
    {ENTRY, 0, 2, {THREADS < 4 ? 4 / THREADS : 1, 1, 1}, {THREADS, 1, 1}, 0, arguments}};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION_DEVICES, 2, 1, 1, TARGET, "cc", kernels, &function, 16,
    &repeat, 1, DEVICE_LAUNCHES, &code, device_launches};
)";
}

std::string ThreeShapesModule() {
  return R"(
#include "runtime/module_abi.h"
static void add(void* const* b, int64_t begin, int64_t end, void* scratch) {
  for (int64_t i = begin; i < end; ++i)
    ((float*)b[2])[i] = 2 * ((const float*)b[0])[i] + ((const float*)b[1])[i];
}
static void add_one(void* const* b, int64_t begin, int64_t end, void* scratch) {
  for (int64_t i = begin; i < end; ++i)
    ((float*)b[2])[i] = 2 * ((const float*)b[0])[i] + ((const float*)b[1])[0];
}
static const int64_t one[1] = {1}, four[1] = {4}, eight[1] = {8};
#define BUFFERS(name, x_shape, b_shape, x_bytes, b_bytes)                \
  static const struct hone_buffer name[3] = {                            \
      {"x", HONE_ROLE_INPUT, 1, 1, 0, x_shape, "C", x_bytes, 0, 0},      \
      {"b", HONE_ROLE_INPUT, 1, 1, 0, b_shape, "C", b_bytes, 0, 0},      \
      {"y", HONE_ROLE_OUTPUT, 1, 1, 0, x_shape, "C", x_bytes, 0, 0}};    \
  static const struct hone_value name##_values[3] = {                    \
      {"x", 1, {0}, 1, x_shape, x_bytes}, {"b", B_TYPE, {0}, 1, b_shape, b_bytes}, \
      {"y", 1, {0}, 1, x_shape, x_bytes}};
#define B_TYPE 1
BUFFERS(b4, four, four, 16, 16)
BUFFERS(b8, eight, eight, 32, 32)
#ifdef OTHER_TYPE
#undef B_TYPE
#define B_TYPE OTHER_TYPE
#endif
BUFFERS(b81, eight, one, 32, 4)
#define LAUNCH(name, function, grid) \
  static const struct hone_launch name[1] = {{#function, function, grid, 0, HONE_PHASE_RUN, 0, 0, 0}};
LAUNCH(l4, add, 4)
LAUNCH(l8, add, 8)
LAUNCH(l81, add_one, 8)
static const struct hone_kernel kernels[3] = {
    {"add", "add", "00", "", "tuned", 4, 1, 3, 1, b4, l4},
    {"add.1", "add", "01", "", "tuned", 8, 1, 3, 1, b8, l8},
    {"add.2", "add", "02", "", "tuned", 8, 1, 3, 1, b81, l81}};
static const struct hone_location places[3] = {
    {HONE_SPACE_INPUT, 0, 0}, {HONE_SPACE_INPUT, 1, 0}, {HONE_SPACE_OUTPUT, 0, 0}};
static const struct hone_call calls[3] = {{0, 0, places}, {1, 0, places}, {2, 0, places}};
static const struct hone_function functions[3] = {
    {"main", 2, 1, 1, 0, b4_values, b4_values + 2, calls, 0},
    {"main", 2, 1, 1, 0, b8_values, b8_values + 2, calls + 1, 0},
    {"main", 2, 1, 1, 0, b81_values, b81_values + 2, calls + 2, 0}};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION, 3, 3, 0, "llvm -mcpu=generic -threads=1", "cc", kernels, functions, 0};
)";
}

void ChainReference(const float* input, float* output) {
  constexpr int kSteps = 8;
  std::vector<float> from(input, input + kChainLength);
  std::vector<float> to(kChainLength);
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kChainLength; ++i) {
      to[i] = from[kChainLength - 1 - i] + from[(i + 1) % kChainLength];
    }
    std::swap(from, to);
  }
  std::copy(from.begin(), from.end(), output);
}

std::string ThreeInputsModule() {
  return R"(
#include "runtime/module_abi.h"
static const int64_t n1[1] = {1}, n2[1] = {2};
#define SPECIALISATION(name, a, b, c)                                                            \
  static void name(void* const* p, int64_t begin, int64_t end, void* scratch) {                  \
    *(float*)p[3] = 100 * ((const float*)p[0])[a - 1] + 10 * ((const float*)p[1])[b - 1] +        \
                    ((const float*)p[2])[c - 1];                                                 \
  }                                                                                              \
  static const struct hone_buffer name##_buffers[4] = {                                          \
      {"a", HONE_ROLE_INPUT, 1, 1, 0, n##a, "C", 4 * a, 0, 0},                                   \
      {"b", HONE_ROLE_INPUT, 1, 1, 0, n##b, "C", 4 * b, 0, 0},                                   \
      {"c", HONE_ROLE_INPUT, 1, 1, 0, n##c, "C", 4 * c, 0, 0},                                   \
      {"y", HONE_ROLE_OUTPUT, 1, 1, 0, n1, "C", 4, 0, 0}};                                       \
  static const struct hone_value name##_values[4] = {{"a", 1, {0}, 1, n##a, 4 * a},              \
                                                     {"b", 1, {0}, 1, n##b, 4 * b},              \
                                                     {"c", 1, {0}, 1, n##c, 4 * c},              \
                                                     {"y", 1, {0}, 1, n1, 4}};                   \
  static const struct hone_launch name##_launch[1] = {{#name, name, 1, 0, HONE_PHASE_RUN, 0, 0, 0}};
SPECIALISATION(sum111, 1, 1, 1)
SPECIALISATION(sum221, 2, 2, 1)
SPECIALISATION(sum122, 1, 2, 2)
#define KERNEL(name) {#name, #name, "00", "", "tuned", 4, 1, 4, 1, name##_buffers, name##_launch}
static const struct hone_kernel kernels[3] = {KERNEL(sum111), KERNEL(sum221), KERNEL(sum122)};
static const struct hone_location places[4] = {{HONE_SPACE_INPUT, 0, 0},
                                               {HONE_SPACE_INPUT, 1, 0},
                                               {HONE_SPACE_INPUT, 2, 0},
                                               {HONE_SPACE_OUTPUT, 0, 0}};
static const struct hone_call calls[3] = {{0, 0, places}, {1, 0, places}, {2, 0, places}};
#define FUNCTION(name, call) {"main", 3, 1, 1, 0, name##_values, name##_values + 3, calls + call, 0}
static const struct hone_function functions[3] = {FUNCTION(sum111, 0), FUNCTION(sum221, 1),
                                                  FUNCTION(sum122, 2)};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION, 3, 3, 0, "llvm -mcpu=generic -threads=1", "cc", kernels, functions, 0};
)";
}

}  // namespace hone
