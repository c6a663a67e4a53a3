// An NVIDIA GPU as a target of code generation.
#ifndef HONE_COMPILER_IR_CUDA_TARGET_H_
#define HONE_COMPILER_IR_CUDA_TARGET_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/target_flags.h"

namespace hone {

// Facts about the cards that run the code; 0: not known.
struct CudaFacts {
  int multiprocessors = 0;
  int64_t l2_bytes = 0;

  bool operator==(const CudaFacts&) const = default;
};

// Canonical text:
//   cuda -arch=sm_90a -multiprocessors=132 -l2=52428800
// Flags stand in this order, and facts that are not known are left out. A value type.
struct CudaTarget {
  // "sm_90", "sm_90a": the compute capability, which decides how many registers and threads and how
  // much shared memory a block may have. With 'a', code may also use instructions that no other
  // capability has.
  std::string arch;
  CudaFacts facts;

  // Makes a target of the flags after "cuda". kInvalidArgument names a missing or unknown flag or
  // architecture, and lists the known ones.
  static absl::StatusOr<CudaTarget> FromFlags(std::span<const ir::TargetFlag> flags);
  std::string ToString() const;

  bool operator==(const CudaTarget&) const = default;
};

}  // namespace hone

#endif  // HONE_COMPILER_IR_CUDA_TARGET_H_
