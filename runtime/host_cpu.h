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

// Whether all of these words ("avx2 fma") are among features, which are sorted.
bool HasAll(const std::vector<std::string>& features, std::string_view words);

// A source of CPUID leaves, so that tests can be any machine.
struct CpuidRegisters {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
};
struct CpuidSource {
  // Zeros for a leaf the processor does not have.
  std::function<CpuidRegisters(uint32_t leaf, uint32_t subleaf)> leaf;
  uint64_t enabled_state = 0;  // XCR0: the registers that the operating system saves; 0: none
  bool lends_tiles = false;    // it gives tile registers to processes that ask
};

// Features whose registers the system does not save, or lend, are left out. A cpu's name is given
// only where all that LLVM would assume of it is there (hypervisors hide features); else that of an
// older one of its kind, of which all is there, or "x86-64-v4", "-v3" or "-v2".
HostCpu DescribeX86(const CpuidSource& source);

// What an AArch64 system says of the processor, so that tests can be any machine.
struct ArmSource {
  uint64_t hwcap = 0;   // getauxval(AT_HWCAP)
  uint64_t hwcap2 = 0;  // AT_HWCAP2
  uint64_t midr = 0;    // the register MIDR_EL1, which names the core; 0: not known
};

// A core's name is given only where all that LLVM would assume of it is there; else that of an
// older one of its kind, of which all is there, or "generic". Sizes of caches are those of HostCpu.
HostCpu DescribeArm(const ArmSource& source);

// This machine. On an architecture Hone does not know, a "generic" one.
HostCpu DescribeHost();

// Its features alone, sorted, looked at once a process and kept for those that it forks
// (hypervisors make each CPUID slow). The first look may make a system call.
const std::vector<std::string>& HostFeatures();
// Whether HostFeatures looks for this one ("avx2"): its absence then says that the machine lacks
// it.
bool LooksFor(std::string_view feature);

}  // namespace hone

#endif  // HONE_RUNTIME_HOST_CPU_H_
