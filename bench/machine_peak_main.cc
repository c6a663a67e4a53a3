// Measures this machine's fp32 FMA peak and its copy bandwidth, on N threads at once, and prints
// one JSON line: every figure of bench/results stands beside these, taken in the same run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "fmt/format.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSeconds = 0.3;
constexpr int kInner = 20000;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Rate {
  double work = 0;  // FLOPs or bytes
  double seconds = 0;
};

// Sixteen independent chains cover latency x pipes of every core known. The accumulators pass
// through empty asm so that the compiler neither removes nor reassociates them.
template <typename Vector>
[[gnu::always_inline]] inline Rate FmaPeak() {
  constexpr int kLanes = sizeof(Vector) / sizeof(float);
  Vector acc[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) acc[i] = Vector{} + static_cast<float>(i);
  const Vector x = Vector{} + 0.999f;
  const Vector y = Vector{} + 1e-3f;
  double iterations = 0;
  const Clock::time_point start = Clock::now();
  double seconds = 0;
  do {
    for (int r = 0; r < kInner; ++r) {
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) {
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
  return {2.0 * kLanes * 16 * iterations, seconds};
}

#if defined(__x86_64__)
typedef float Vector16 __attribute__((vector_size(64)));
typedef float Vector8 __attribute__((vector_size(32)));
[[gnu::target("avx512f,fma")]] Rate FmaPeakZmm() { return FmaPeak<Vector16>(); }
[[gnu::target("avx2,fma")]] Rate FmaPeakYmm() { return FmaPeak<Vector8>(); }
Rate BestFmaPeak() { return __builtin_cpu_supports("avx512f") ? FmaPeakZmm() : FmaPeakYmm(); }
#else
typedef float Vector4 __attribute__((vector_size(16)));
Rate BestFmaPeak() { return FmaPeak<Vector4>(); }
#endif

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

// The sum over threads that run together.
double Together(int threads, Rate (*measure)()) {
  std::vector<Rate> rates(threads);
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) team.emplace_back([&, i] { rates[i] = measure(); });
  double total = 0;
  for (int i = 0; i < threads; ++i) {
    team[i].join();
    total += rates[i].work / rates[i].seconds;
  }
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  const double fma = Together(threads, BestFmaPeak);
  const double copy = Together(threads, CopyBandwidth);
  fmt::print("{{\"threads\": {}, \"fma_gflops\": {:.2f}, \"copy_gbs\": {:.2f}}}\n", threads,
             fma * 1e-9, copy * 1e-9);
  return 0;
}
