// What code is generated for.
#ifndef HONE_COMPILER_IR_TARGET_H_
#define HONE_COMPILER_IR_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data_type.h"

namespace hone {

// Canonical text, of which equal machines have equal ones:
//   llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx2,+avx512f,+fma
//   -caches=49152,1048576,33554432 -threads=2
// Flags stand in this order. A value type.
struct Target {
  std::string kind = "llvm";
  std::string triple;
  std::string cpu;                    // a name LLVM knows
  std::vector<std::string> features;  // sorted, each with its '+'
  int64_t l1_bytes = 0;               // data cache of a core
  int64_t l2_bytes = 0;               // of a core
  int64_t l3_bytes = 0;               // shared
  int threads = 1;

  // Fills what the text leaves out: the triple is this machine's architecture's, features those of
  // the cpu (x86-64-v2/v3/v4 and the cpus Hone lists), caches a modest core's, threads 1. "native"
  // is this machine, with all its cores. kInvalidArgument names the flag or cpu that is not known,
  // and what is.
  static absl::StatusOr<Target> Parse(std::string_view text);
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
  // Products of bfloat16, summed in float32, that dot products of its vectors make while it makes
  // one of float32; 1 where they are no faster.
  double BFloat16DotRate() const;
  // Architectural vector registers: 32 with AVX-512 and NEON, otherwise 16.
  int VectorRegisters() const;

  bool operator==(const Target&) const = default;
};

}  // namespace hone

#endif  // HONE_COMPILER_IR_TARGET_H_
