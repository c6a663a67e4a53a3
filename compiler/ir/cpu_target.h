// A CPU as a target of code generation.
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

// Facts about the machines that run the code. They decide how fast code is, not which code is
// valid.
struct CpuFacts {
  int64_t l1_bytes = 0;  // data cache of a core
  int64_t l2_bytes = 0;  // of a core
  int64_t l3_bytes = 0;  // shared
  // An emulator plays the processor: its times say nothing of a real one (docs/decisions/0029).
  bool is_emulated = false;

  bool operator==(const CpuFacts&) const = default;
};

// A target of kind CPU. Its canonical text is equal for equal machines:
//   llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx2,+avx512f,+fma
//   -caches=49152,1048576,33554432 -threads=2
// Flags stand in this order; -emulated=yes stands before -threads if the device is emulated. A
// value type.
struct CpuTarget {
  std::string triple;
  std::string cpu;                    // a name LLVM knows
  std::vector<std::string> features;  // sorted, each with its '+'
  int threads = 1;
  CpuFacts facts;

  // Parses a target's text (compiler/ir/target.h). kUnimplemented if the target is of another kind
  // than CPU.
  static absl::StatusOr<CpuTarget> Parse(std::string_view text);
  // Makes a target of the flags after "llvm". Missing flags get defaults: the triple of this
  // machine's architecture, the features of the CPU (x86-64-v2/v3/v4 and the CPUs that Hone lists),
  // the caches of a modest core, and one thread. kInvalidArgument names an unknown flag or CPU, and
  // lists the known ones.
  static absl::StatusOr<CpuTarget> FromFlags(std::span<const ir::TargetFlag> flags);
  std::string ToString() const;

  bool Has(std::string_view feature) const;  // "avx512f", without the '+'
  bool IsX86() const;
  bool IsAArch64() const;
  // Bytes of the widest vector register that code for this target uses: 64, 32 or 16.
  int VectorBytes() const;
  // Lanes of 32-bit floats in such a register.
  int VectorLanes() const { return VectorBytes() / 4; }
  // Whether the CPU multiplies matrices of such elements in tile registers (AMX) whose rows are as
  // wide as its vectors.
  bool MultipliesInTiles(DataType dtype) const;
  // Architectural vector registers: 32 with AVX-512 and NEON, otherwise 16.
  int VectorRegisters() const;

  bool operator==(const CpuTarget&) const = default;
};

}  // namespace hone

#endif  // HONE_COMPILER_IR_CPU_TARGET_H_
