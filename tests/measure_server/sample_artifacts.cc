#include "tests/measure_server/sample_artifacts.h"

#include <map>
#include <utility>

#include "tests/runtime/c_module.h"

namespace hone::measure {
namespace {

constexpr char kHead[] = R"(
#include "runtime/module_abi.h"
#define ROWS 6
#define TERMS 32
static const int64_t x_shape[2] = {ROWS, TERMS};
static const int64_t w_shape[1] = {TERMS};
static const int64_t y_shape[1] = {ROWS};
)";

constexpr char kCandidate[] = R"(
#ifndef WORKSPACE_BYTES
#define WORKSPACE_BYTES 256
#endif
#ifndef PAD
#define PAD 0
#endif
#ifndef RUN_FLAGS
#define RUN_FLAGS 0
#endif
#ifndef SPEND
#define SPEND 0
#endif
static long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}
static long call6(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall" : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
static long hex(const char** at) {
  long value = 0;
  for (;; ++*at) {
    const char c = **at;
    if (c >= '0' && c <= '9') value = 16 * value + (c - '0');
    else if (c >= 'a' && c <= 'f') value = 16 * value + (c - 'a' + 10);
    else return value;
  }
}
/* Of this process, by its own map: "begin-end rw-s ...". */
static long shared_writable_bytes(void) {
  static char text[1 << 16];
  const char* const path = "/proc/self/maps";
  const long fd = call(257, -100, (long)path, 0);
  long size = 0;
  for (long n; (n = call(0, fd, (long)text + size, sizeof(text) - 1 - size)) > 0;) size += n;
  text[size] = 0;
  long bytes = 0;
  for (const char* at = text; *at;) {
    const long begin = hex(&at);
    ++at;
    const long end = hex(&at);
    if (at[2] == 'w' && at[4] == 's') bytes += end - begin;
    while (*at && *at++ != '\n') {}
  }
  return bytes;
}
#ifdef CONSTRUCTOR
__attribute__((constructor)) static void construct(void) { CONSTRUCTOR; }
#endif
static void pack(void* const* b, int64_t begin, int64_t end, void* s) {
#ifdef PREPARE
  PREPARE;
#endif
  const float* w = b[1];
  float* packed = b[2];
  for (int64_t k = begin; k < end; ++k) packed[TERMS - 1 - k] = w[k];
}
static void run(void* const* b, int64_t begin, int64_t end, void* s) {
  const float* x = b[0];
  const float* packed = b[2];
  float* y = b[4];
  for (int64_t i = begin; i < end; ++i) {
    float sum = 0;
    for (int64_t k = TERMS - 1; k >= 0; --k) sum += x[i * TERMS + k] * packed[TERMS - 1 - k];
    for (volatile int64_t n = 0; n < SPEND; ++n) {}
    FAULT;
    y[i] = sum;
    if (i == ROWS - 1) y[ROWS] = y[ROWS + 1] = PAD;
  }
  (void)call6, (void)shared_writable_bytes;
}
static const int64_t workspace_shape[1] = {WORKSPACE_BYTES / 4};
static const struct hone_buffer buffers[5] = {
    {"x", HONE_ROLE_INPUT, 1, 2, 0, x_shape, "NC", 4 * ROWS * TERMS, 0, 0},
    {"w", HONE_ROLE_CONSTANT, 1, 1, 0, w_shape, "C", 4 * TERMS, 0, 0},
    {"packed", HONE_ROLE_PREPARED, 1, 1, 0, w_shape, "C", 4 * TERMS, 0, 0},
    {"t", HONE_ROLE_WORKSPACE, 1, 1, 0, workspace_shape, "C", WORKSPACE_BYTES, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 1, 0, y_shape, "C4c", 4 * 8, 0, 0}};
static const struct hone_launch launches[2] = {
    {"pack", pack, TERMS, 0, HONE_PHASE_PREPARE, 0, 0, 0},
    {"run", run, ROWS, 64, HONE_PHASE_RUN, 0, 0, RUN_FLAGS}};
static const struct hone_kernel kernels[1] = {
    {"rows", "workload", "digest", "config", "", 2 * ROWS * TERMS, 4, 5, 2, buffers, launches}};
)";

constexpr char kDeviceCode[] =
    "kernel void pack(global char* w, ulong w_at, global char* p, ulong p_at) {"
    " size_t k = get_global_id(0);"
    " if (k < 32) ((global float*)(p + p_at))[31 - k] = ((global float*)(w + w_at))[k]; }"
    "kernel void run(global char* x_of, ulong x_at, global char* p_of, ulong p_at,"
    " global char* t_of, ulong t_at, global char* y_of, ulong y_at) {"
    " size_t i = get_global_id(0);"
    " global float* x = (global float*)(x_of + x_at);"
    " global float* p = (global float*)(p_of + p_at);"
    " global float* t = (global float*)(t_of + t_at);"
    " global float* y = (global float*)(y_of + y_at);"
    " float sum = 0;"
    " if (i < 6) for (int k = 31; k >= 0; --k) sum += x[i * 32 + k] * p[31 - k];"
    " t[i] = sum; FAULT y[i] = sum; }";

constexpr char kDeviceTables[] = R"(
static const int64_t t_shape[1] = {8};
static const struct hone_buffer buffers[5] = {
    {"x", HONE_ROLE_INPUT, 1, 2, 0, x_shape, "NC", 4 * ROWS * TERMS, 0, 0},
    {"w", HONE_ROLE_CONSTANT, 1, 1, 0, w_shape, "C", 4 * TERMS, 0, 0},
    {"packed", HONE_ROLE_PREPARED, 1, 1, 0, w_shape, "C", 4 * TERMS, 0, 0},
    {"t", HONE_ROLE_WORKSPACE, 1, 1, 0, t_shape, "C", 32, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 1, 0, y_shape, "C4c", 4 * 8, 0, 0}};
static const struct hone_launch launches[2] = {
    {"pack", 0, 1, 0, HONE_PHASE_PREPARE, 0, 0, 0}, {"run", 0, 1, 0, HONE_PHASE_RUN, 0, 0, 0}};
static const struct hone_kernel kernels[1] = {
    {"rows", "workload", "digest", "config", "", 2 * ROWS * TERMS, 4, 5, 2, buffers, launches}};
static const struct hone_device_code code = {HONE_CODE_OPENCL_C, 0, CODE, sizeof(CODE) - 1, "-cl-std=CL1.2"};
static const uint32_t pack_arguments[2] = {1, 2};
static const uint32_t run_arguments[4] = {0, 2, 3, 4};
static const struct hone_device_launch device_launches[2] = {
    {"pack", 0, 2, {4, 1, 1}, {8, 1, 1}, 0, pack_arguments},
    {"run", 0, 4, {2, 1, 1}, {4, 1, 1}, 0, run_arguments}};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION_DEVICES, 1, 0, 0, "opencl -device=any", "cc", kernels, 0, 0,
    0, 1, 2, &code, device_launches};
)";

constexpr char kReference[] = R"(
static void run(void* const* b, int64_t begin, int64_t end, void* s) {
  const float* x = b[0];
  const float* w = b[1];
  double* y = b[2];
  double* m = b[3];
  for (int64_t i = begin; i < end; ++i) {
    y[i] = m[i] = 0;
    for (int64_t k = 0; k < TERMS; ++k) {
      const double term = (double)x[i * TERMS + k] * w[k];
      y[i] += term;
      m[i] += term < 0 ? -term : term;
    }
  }
}
static const struct hone_buffer buffers[4] = {
    {"x", HONE_ROLE_INPUT, 1, 2, 0, x_shape, "NC", 4 * ROWS * TERMS, 0, 0},
    {"w", HONE_ROLE_CONSTANT, 1, 1, 0, w_shape, "C", 4 * TERMS, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 2, 1, 0, y_shape, "C", 8 * ROWS, 0, 0},
    {"y.magnitude", HONE_ROLE_OUTPUT, 2, 1, 0, y_shape, "C", 8 * ROWS, 0, 0}};
static const struct hone_launch launches[1] = {{"run", run, ROWS, 0, HONE_PHASE_RUN, 0, 0, 0}};
static const struct hone_kernel kernels[1] = {
    {"reference", "workload", "digest", "", "", 0, 0, 4, 1, buffers, launches}};
)";

constexpr char kTail[] = R"(
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION, 1, 0, 0, "llvm", "cc", kernels, 0, 0};
)";

}  // namespace

std::string CandidateSource(const std::string& fault, const std::string& macros) {
  return macros + "\n#define FAULT " + fault + "\n" + kHead + kCandidate + kTail;
}

std::string DeviceCandidateSource(const std::string& fault) {
  std::string code = kDeviceCode;
  const std::string mark = "FAULT";
  code.replace(code.find(mark), mark.size(), fault);
  return "#define CODE \"" + code + "\"\n" + kHead + kDeviceTables;
}

std::string ReferenceSource() { return std::string(kHead) + kReference + kTail; }

const std::string& Compiled(const std::string& source, const std::string& flags) {
  static auto* const compiled = new std::map<std::pair<std::string, std::string>, std::string>;
  std::string& bytes = (*compiled)[{source, flags}];
  if (bytes.empty()) {
    const TestFolder folder;
    bytes = ReadBytes(CompileC(folder, "artifact", source, flags));
  }
  return bytes;
}

}  // namespace hone::measure
