// Sources of small modules.
#ifndef HONE_TESTS_RUNTIME_SAMPLE_MODULES_H_
#define HONE_TESTS_RUNTIME_SAMPLE_MODULES_H_

#include <string>

namespace hone {

// y[i] = x[i] * parameter[i], 4 floats; 16 bytes of parameters. Macros before it,
// MODULE_VERSION and TARGET, set another ABI version and another target text.
std::string ScaleModule();

// Calls of a kernel with a parallel, a serial and a parallel launch, each of which reads all that
// the one before wrote, so that a missing barrier shows: out[i] = x[i] summed up over neighbours.
// 1024 floats in and out. Macros before it (ARENA_BYTES, GRID, ...) spoil single entries.
std::string ChainModule();
// What ChainModule computes.
void ChainReference(const float* input, float* output);
inline constexpr int kChainLength = 1024;

// y[i] = x[i] * parameter[i] + TRIPS + 1, 4 floats, for a device of OpenCL: a call, a repeat of
// TRIPS (5) calls whose buffers alternate, and a call. 16 bytes of parameters. Macros before it
// (CODE_KIND, CODE, ENTRY, ARGUMENT, DEVICE_LAUNCHES, THREADS, FUNCTION) spoil single entries.
std::string OpenClModule();

// y = 2x + b of floats, compiled for x=4 b=4, for x=8 b=8 and for x=8 b=1.
std::string ThreeShapesModule();

// y = 100 a + 10 b + c, one float, of the last element of each; compiled for a=1 b=1 c=1, for
// a=2 b=2 c=1 and for a=1 b=2 c=2.
std::string ThreeInputsModule();

}  // namespace hone

#endif  // HONE_TESTS_RUNTIME_SAMPLE_MODULES_H_
