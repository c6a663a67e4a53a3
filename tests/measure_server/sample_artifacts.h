// Artifacts of one small workload, y[i] = sum over k of x[i, k] * w[k], as C that `cc` compiles
// when a test runs: a good one, and everything that can be wrong with one.
#ifndef HONE_TESTS_MEASURE_SERVER_SAMPLE_ARTIFACTS_H_
#define HONE_TESTS_MEASURE_SERVER_SAMPLE_ARTIFACTS_H_

#include <string>

namespace hone::measure {

// `fault` is a C statement that the run launch executes for row i before it stores y[i] = sum; with
// it come float* y, const float* x, call(number, ...) and call6(number, ...), raw system calls, and
// shared_writable_bytes(), of this process. The output is blocked: 6 elements in "C4c", so 2 pad
// lanes. `macros` may spoil other parts (WORKSPACE_BYTES, PAD, PREPARE, ...).
std::string CandidateSource(const std::string& fault = "", const std::string& macros = "");
// The same for a device of OpenCL: `fault` is a statement of OpenCL C that work item i executes,
// with the sum and pointers x, t and y; it has no line breaks or quotes.
std::string DeviceCandidateSource(const std::string& fault = "");
// The same workload in float64 with magnitudes.
std::string ReferenceSource();

// The shared object's bytes. Compiled once a process and text. `flags` come last.
const std::string& Compiled(const std::string& source, const std::string& flags = "");

}  // namespace hone::measure

#endif  // HONE_TESTS_MEASURE_SERVER_SAMPLE_ARTIFACTS_H_
