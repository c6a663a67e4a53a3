// The target: what code is generated for.
#ifndef HONE_COMPILER_IR_TARGET_H_
#define HONE_COMPILER_IR_TARGET_H_

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "compiler/ir/cpu_target.h"
#include "compiler/ir/cuda_target.h"
#include "compiler/ir/opencl_target.h"

namespace hone {

// A target is of one kind. Each kind has members that identify it, which decide what code is valid,
// and `facts` of the devices that run it (docs/decisions/0020-targets-and-devices.md). A value
// type.
struct Target {
  std::variant<CpuTarget, CudaTarget, OpenClTarget> kind;

  Target() = default;
  Target(CpuTarget cpu) : kind(std::move(cpu)) {}           // NOLINT: a target of its kind
  Target(CudaTarget cuda) : kind(std::move(cuda)) {}        // NOLINT
  Target(OpenClTarget opencl) : kind(std::move(opencl)) {}  // NOLINT

  // Null if the target is of another kind.
  const CpuTarget* AsCpu() const { return std::get_if<CpuTarget>(&kind); }

  // "llvm ...", "cuda ..." or "opencl ...", as each kind's FromFlags takes it; "native" is this
  // machine, with all its cores. kInvalidArgument names an unknown kind, flag or value, and lists
  // the known ones.
  static absl::StatusOr<Target> Parse(std::string_view text);
  // The canonical text; equal targets have equal texts.
  std::string ToString() const;

  bool operator==(const Target&) const = default;
};

}  // namespace hone

#endif  // HONE_COMPILER_IR_TARGET_H_
