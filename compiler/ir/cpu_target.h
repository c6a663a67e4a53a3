// A CPU, as code is generated for it.
#ifndef HONE_COMPILER_IR_CPU_TARGET_H_
#define HONE_COMPILER_IR_CPU_TARGET_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/target_flags.h"
#include "runtime/data_type.h"

namespace hone {

// What is known of the machines that run the code; it decides how fast code is, not which is valid.
struct CpuFacts {
  int64_t l1_bytes = 0;  // data cache of a core
  int64_t l2_bytes = 0;  // of a core
  int64_t l3_bytes = 0;  // shared
  // An emulator plays the processor: its times say nothing of a real one (docs/decisions/0029).
  bool is_emulated = false;

  bool operator==(const CpuFacts&) const = default;
};

// Canonical text, of which equal machines have equal ones:
//   llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx2,+avx512f,+fma
//   -caches=49152,1048576,33554432 -threads=2
// Flags stand in this order, and before -threads -emulated=yes of a device that is emulated. A
// value type.
struct CpuTarget {
  std::string triple;
  std::string cpu;                    // a name LLVM knows
  std::vector<std::string> features;  // sorted, each with its '+'
  int threads = 1;
  CpuFacts facts;

  // The target that a text names (compiler/ir/target.h), for code generation. kUnimplemented where
  // it is of another kind, for which there is none yet.
  static absl::StatusOr<CpuTarget> Parse(std::string_view text);
  // Reads the words behind "llvm", and fills what they leave out: the triple is this machine's
  // architecture's, features those of the cpu (x86-64-v2/v3/v4 and the cpus Hone lists), caches a
  // modest core's, threads 1. kInvalidArgument names the flag or cpu that is not known, and what
  // is.
  static absl::StatusOr<CpuTarget> FromFlags(std::span<const ir::TargetFlag> flags);
  std::string ToString() const;

  bool Has(std::string_view feature) const;  // "avx512f", without the '+'
  bool IsX86() const;
  bool IsAArch64() const;
  // Bytes of the widest vector register that code for this target uses: 64, 32 or 16.
  int VectorBytes() const;
  // Lanes of 32-bit floats in it.
  int VectorLanes() const { return VectorBytes() / 4; }
  // Whether it multiplies matrices of such elements in tile registers (AMX), whose rows are as wide
  // as its vectors.
  bool MultipliesInTiles(DataType dtype) const;
  // Architectural vector registers: 32 with AVX-512 and NEON, otherwise 16.
  int VectorRegisters() const;

  bool operator==(const CpuTarget&) const = default;
};

}  // namespace hone

#endif  // HONE_COMPILER_IR_CPU_TARGET_H_
