// The processor this program runs on.
#ifndef HONE_RUNTIME_HOST_CPU_H_
#define HONE_RUNTIME_HOST_CPU_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct HostCpu {
  std::string triple;
  std::string cpu;                                                      // as LLVM knows it
  std::vector<std::string> features;                                    // sorted, without '+'
  std::array<int64_t, 3> cache_bytes = {32 << 10, 512 << 10, 8 << 20};  // L1 data, L2, L3
};

// Whether all of these words ("avx2 fma") are among `features`, which are sorted.
bool HasAll(const std::vector<std::string>& features, std::string_view words);

// What CPUID returns for one leaf.
struct CpuidRegisters {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
};
// A source of CPUID leaves, so that tests can play any machine.
struct CpuidSource {
  // Zeros for a leaf that the processor does not have.
  std::function<CpuidRegisters(uint32_t leaf, uint32_t subleaf)> leaf;
  uint64_t enabled_state = 0;  // XCR0: which registers the operating system saves
  bool lends_tiles = false;    // the system gives tile registers to processes that ask
};

// Leaves out features whose registers the system does not save or lend. The CPU's own name is given
// only if all features that LLVM would assume for it are there (hypervisors hide features).
// Otherwise the name is that of an older CPU of its line whose features are all there, or
// "x86-64-v4", "-v3" or "-v2".
HostCpu DescribeX86(const CpuidSource& source);

// What an AArch64 system says of the processor, so that tests can play any machine.
struct ArmSource {
  uint64_t hwcap = 0;   // getauxval(AT_HWCAP)
  uint64_t hwcap2 = 0;  // AT_HWCAP2
  uint64_t midr = 0;    // the register MIDR_EL1, which names the core; 0: not known
};

// As with DescribeX86, the core gets its own name only if all features that LLVM would assume for
// it are there, otherwise the name of an older core of its line, or "generic". Cache sizes keep the
// defaults of HostCpu.
HostCpu DescribeArm(const ArmSource& source);

// Describes this machine; its CPU is "generic" on an architecture that Hone does not know.
HostCpu DescribeHost();

// This machine's features alone, sorted. They are read once in a process, and its forked children
// keep them, because CPUID is slow under hypervisors. The first call may make a system call.
const std::vector<std::string>& HostFeatures();
// Whether HostFeatures looks for this feature ("avx2"), so that its absence there means that the
// machine lacks it.
bool LooksFor(std::string_view feature);

}  // namespace hone

#endif  // HONE_RUNTIME_HOST_CPU_H_
