// Measures this machine's fp32 FMA peak, that of products in tile registers where it has some, and
// its bandwidths by cache level, on N threads at once, and prints one JSON line: every figure of
// bench/results stands beside these, taken in the same run.
//
//   machine_peak [THREADS]             all of it
//   machine_peak THREADS best|ymm      one FMA loop only: of the widest vectors, or of ymm
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/tile_peak.h"
#include "fmt/format.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSeconds = 0.3;
constexpr double kLoopSeconds = 0.1;  // of each loop over memory but the copy of main memory
constexpr int kInner = 20000;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Rate {
  double work = 0;  // FLOPs or bytes
  double seconds = 0;
};

// Independent chains that cover latency x pipes of every core known; with the two factors they have
// to fit the registers. The accumulators pass through empty asm so that the compiler neither
// removes nor reassociates them.
template <typename Vector, int kChains>
[[gnu::always_inline]] inline Rate FmaPeak() {
  constexpr int kLanes = sizeof(Vector) / sizeof(float);
  Vector acc[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) acc[i] = Vector{} + static_cast<float>(i);
  const Vector x = Vector{} + 0.999f;
  const Vector y = Vector{} + 1e-3f;
  double iterations = 0;
  const Clock::time_point start = Clock::now();
  double seconds = 0;
  do {
    for (int r = 0; r < kInner; ++r) {
#pragma GCC unroll 16
      for (int i = 0; i < kChains; ++i) {
        acc[i] = acc[i] * x + y;
#if defined(__x86_64__)
        asm volatile("" : "+v"(acc[i]));
#else
        asm volatile("" : "+w"(acc[i]));
#endif
      }
    }
    iterations += kInner;
    seconds = SecondsSince(start);
  } while (seconds < kSeconds);
  return {2.0 * kLanes * kChains * iterations, seconds};
}

// One pass over arrays that are aligned to 64 bytes. What is read passes through empty asm, so that
// no load is left out and no copy becomes a call.
using Pass = void (*)(const float* a, const float* b, float* to, size_t floats);

template <typename Vector>
[[gnu::always_inline]] inline void Keep(Vector& value) {
#if defined(__x86_64__)
  asm volatile("" : "+v"(value));
#else
  asm volatile("" : "+w"(value));
#endif
}

template <typename Vector>
[[gnu::always_inline]] inline void CopyPass(const float* a, float* to, size_t floats) {
  constexpr size_t kLanes = sizeof(Vector) / sizeof(float);
#pragma GCC unroll 8
  for (size_t i = 0; i < floats; i += kLanes) {
    Vector value = *reinterpret_cast<const Vector*>(a + i);
    Keep(value);
    *reinterpret_cast<Vector*>(to + i) = value;
  }
}

template <typename Vector>
[[gnu::always_inline]] inline void ReadPass(const float* a, size_t floats) {
  constexpr size_t kLanes = sizeof(Vector) / sizeof(float);
#pragma GCC unroll 8
  for (size_t i = 0; i < floats; i += kLanes) {
    Vector value = *reinterpret_cast<const Vector*>(a + i);
    Keep(value);
  }
}

#if defined(__x86_64__)
typedef float Vector16 __attribute__((vector_size(64), may_alias));
typedef float Vector8 __attribute__((vector_size(32), may_alias));
[[gnu::target("avx512f,fma")]] Rate FmaPeakZmm() { return FmaPeak<Vector16, 16>(); }
[[gnu::target("avx2,fma")]] Rate FmaPeakYmm() { return FmaPeak<Vector8, 12>(); }
[[gnu::target("avx512f")]] void CopyZmm(const float* a, const float*, float* to, size_t floats) {
  CopyPass<Vector16>(a, to, floats);
}
[[gnu::target("avx2")]] void CopyYmm(const float* a, const float*, float* to, size_t floats) {
  CopyPass<Vector8>(a, to, floats);
}
[[gnu::target("avx512f")]] void ReadZmm(const float* a, const float*, float*, size_t floats) {
  ReadPass<Vector16>(a, floats);
}
[[gnu::target("avx2")]] void ReadYmm(const float* a, const float*, float*, size_t floats) {
  ReadPass<Vector8>(a, floats);
}
// Its stores go around the caches.
[[gnu::target("avx2,fma")]] void Triad(const float* a, const float* b, float* to, size_t floats) {
  for (size_t i = 0; i < floats; i += 8) {
    const __m256 scaled = _mm256_mul_ps(_mm256_load_ps(b + i), _mm256_set1_ps(3.0f));
    _mm256_stream_ps(to + i, _mm256_add_ps(_mm256_load_ps(a + i), scaled));
  }
}
constexpr bool kHasYmm = true;
bool HasZmm() { return __builtin_cpu_supports("avx512f") != 0; }
Rate BestFmaPeak() { return HasZmm() ? FmaPeakZmm() : FmaPeakYmm(); }
Pass BestCopy() { return HasZmm() ? CopyZmm : CopyYmm; }
Pass BestRead() { return HasZmm() ? ReadZmm : ReadYmm; }
#else
typedef float Vector4 __attribute__((vector_size(16), may_alias));
constexpr bool kHasYmm = false;
Rate FmaPeakYmm() { return {}; }
Rate BestFmaPeak() { return FmaPeak<Vector4, 16>(); }
void Copy(const float* a, const float*, float* to, size_t floats) {
  CopyPass<Vector4>(a, to, floats);
}
void Read(const float* a, const float*, float*, size_t floats) { ReadPass<Vector4>(a, floats); }
void Triad(const float* a, const float* b, float* to, size_t floats) {
  for (size_t i = 0; i < floats; ++i) to[i] = a[i] + 3.0f * b[i];
}
Pass BestCopy() { return Copy; }
Pass BestRead() { return Read; }
#endif

// A pass over and over, on `arrays` (1: a; 2: a and to; 3: all) that are `bytes` together.
Rate Repeat(Pass pass, int arrays, size_t bytes) {
  constexpr size_t kStep = 128;  // floats: what an unrolled step takes
  const size_t floats = bytes / sizeof(float) / static_cast<size_t>(arrays) / kStep * kStep;
  std::vector<std::vector<float>> memory;
  float* at[3] = {};
  for (int i = 0; i < arrays; ++i) {
    memory.emplace_back(floats + 16, 1.0f);
    const auto address = reinterpret_cast<uintptr_t>(memory.back().data());
    at[i] = memory.back().data() + (64 - address % 64) % 64 / sizeof(float);
  }
  float* const to = at[arrays - 1];
  pass(at[0], at[1], to, floats);  // fills the caches
  double passes = 0;
  double seconds = 0;
  const Clock::time_point start = Clock::now();
  do {
    for (int i = 0; i < 4; ++i) pass(at[0], at[1], to, floats);
    passes += 4;
    seconds = SecondsSince(start);
  } while (seconds < kLoopSeconds);
  return {static_cast<double>(sizeof(float) * floats) * arrays * passes, seconds};
}

// Reads and writes buffers far larger than any cache.
Rate CopyBandwidth() {
  constexpr size_t kBytes = size_t{256} << 20;
  std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  double copies = 0;
  const Clock::time_point start = Clock::now();
  double seconds = 0;
  do {
    std::copy(from.begin(), from.end(), to.begin());
    copies += 1;
    seconds = SecondsSince(start);
  } while (seconds < kSeconds);
  return {2.0 * kBytes * copies, seconds};
}

Rate TilePeak(const hone::TileProduct& product) {
  double instructions = 0;
  const Clock::time_point start = Clock::now();
  double seconds = 0;
  do {
    product.run(kInner);
    instructions += kInner;
    seconds = SecondsSince(start);
  } while (seconds < kSeconds);
  return {product.operations * instructions, seconds};
}

// The sum over threads that run together.
template <typename Measure>
double Together(int threads, const Measure& measure) {
  std::vector<Rate> rates(threads);
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) team.emplace_back([&, i] { rates[i] = measure(); });
  double total = 0;
  for (int i = 0; i < threads; ++i) {
    team[i].join();
    total += rates[i].work / rates[i].seconds;
  }
  return total * 1e-9;
}

// Where the system does not say: that of most cores.
size_t SecondLevelBytes() {
  const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : size_t{1} << 20;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  const std::string_view only = argc > 2 ? argv[2] : "";
  if (!only.empty()) {
    const bool is_ymm = only == "ymm";
    if (!is_ymm && only != "best") return 2;
    if (is_ymm && !kHasYmm) return 1;
    const double rate = Together(threads, is_ymm ? FmaPeakYmm : BestFmaPeak);
    fmt::print("{{\"threads\": {}, \"{}fma_gflops\": {:.2f}}}\n", threads, is_ymm ? "ymm_" : "",
               rate);
    return 0;
  }
  // Virtual machines say wrong sizes of the last level, so six second-level caches stand for it.
  const size_t l2 = SecondLevelBytes();
  const size_t in_l2 = l2 / 2;
  const size_t in_l3 = 6 * l2;
  const size_t in_memory = size_t{192} << 20;
  const double fma = Together(threads, BestFmaPeak);
  const double copy = Together(threads, CopyBandwidth);
  fmt::print("{{\"threads\": {}, \"fma_gflops\": {:.2f}, \"copy_gbs\": {:.2f}", threads, fma, copy);
  const auto print = [&](const char* name, Pass pass, int arrays, size_t bytes) {
    const double rate = Together(threads, [&] { return Repeat(pass, arrays, bytes); });
    fmt::print(", \"{}\": {:.2f}", name, rate);
  };
  print("l2_copy_gbs", BestCopy(), 2, in_l2);
  print("l3_copy_gbs", BestCopy(), 2, in_l3);
  print("l2_read_gbs", BestRead(), 1, in_l2);
  print("l3_read_gbs", BestRead(), 1, in_l3);
  print("read_gbs", BestRead(), 1, in_memory);
  print("triad_gbs", Triad, 3, in_memory);
  for (const hone::TileProduct& product : hone::TileProducts()) {
    const double rate = Together(threads, [&] { return TilePeak(product); });
    fmt::print(", \"{}\": {:.2f}", product.peak, rate);
  }
  fmt::print(", \"l2_bytes\": {}}}\n", l2);
  return 0;
}
