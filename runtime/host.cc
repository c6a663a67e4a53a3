#include "runtime/host.h"

#include <sched.h>

#include <algorithm>

namespace hone {

int HostCoreCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::string HostTargetText(int threads) {
  std::string text = "llvm";
#ifdef __x86_64__
  __builtin_cpu_init();
  const char* cpu = "x86-64";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) cpu = "x86-64-v3";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) cpu = "x86-64-v4";
  text += std::string(" -mtriple=x86_64-linux-gnu -mcpu=") + cpu;
#else
  text += " -mtriple=aarch64-linux-gnu -mcpu=generic";
#endif
  return text + " -threads=" + std::to_string(threads);
}

}  // namespace hone
