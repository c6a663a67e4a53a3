// A device of OpenCL, as code is generated for it.
#ifndef HONE_COMPILER_IR_OPENCL_TARGET_H_
#define HONE_COMPILER_IR_OPENCL_TARGET_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/target_flags.h"

namespace hone {

// What is known of the devices that run the code; 0: not known.
struct OpenClFacts {
  int compute_units = 0;

  bool operator==(const OpenClFacts&) const = default;
};

// Canonical text:
//   opencl -device=arm-mali-g78 -max-threads=256 -local=32768 -compute-units=14
// Flags stand in this order, and what is not known is left out. A value type.
struct OpenClTarget {
  // The vendor's and the family's name, whatever the driver: lower case, digits and "._+:-".
  std::string device;
  // What a work group may have, which the name does not promise; 0: as little as OpenCL does.
  int max_threads = 0;  // work items
  int64_t local_bytes = 0;
  OpenClFacts facts;

  // Of the words behind "opencl". kInvalidArgument names the flag or device that is missing or not
  // well formed.
  static absl::StatusOr<OpenClTarget> FromFlags(std::span<const ir::TargetFlag> flags);
  std::string ToString() const;

  bool operator==(const OpenClTarget&) const = default;
};

}  // namespace hone

#endif  // HONE_COMPILER_IR_OPENCL_TARGET_H_
