// An OpenCL device as a target of code generation.
#ifndef HONE_COMPILER_IR_OPENCL_TARGET_H_
#define HONE_COMPILER_IR_OPENCL_TARGET_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/target_flags.h"

namespace hone {

// Facts about the devices that run the code; 0: not known.
struct OpenClFacts {
  int compute_units = 0;

  bool operator==(const OpenClFacts&) const = default;
};

// Canonical text:
//   opencl -device=arm-mali-g78 -max-threads=256 -local=32768 -compute-units=14
// Flags stand in this order, and what is not known is left out. A value type.
struct OpenClTarget {
  // The name of the vendor and the family, independent of the driver, in lower case, digits and
  // "._+:-".
  std::string device;
  // The limits of a work group, which do not follow from the name; 0: only what OpenCL guarantees.
  int max_threads = 0;  // work items
  int64_t local_bytes = 0;
  OpenClFacts facts;

  // Makes a target of the flags after "opencl". kInvalidArgument names a flag or device that is
  // missing or malformed.
  static absl::StatusOr<OpenClTarget> FromFlags(std::span<const ir::TargetFlag> flags);
  std::string ToString() const;

  bool operator==(const OpenClTarget&) const = default;
};

}  // namespace hone

#endif  // HONE_COMPILER_IR_OPENCL_TARGET_H_
