// What every fuzz target defines, and both of its programs call: libFuzzer's with mutated bytes,
// the replay (replay_main.cc) with the files of corpus/.
#ifndef HONE_TESTS_FUZZ_FUZZ_INPUT_H_
#define HONE_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace hone::fuzz {

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Promises that hold for every input; broken, the process dies as it does of a crash.
inline void Require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: broken promise: %s\n", promise);
  std::abort();
}

}  // namespace hone::fuzz

#endif  // HONE_TESTS_FUZZ_FUZZ_INPUT_H_
