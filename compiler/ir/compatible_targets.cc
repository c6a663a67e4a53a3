#include "compiler/ir/compatible_targets.h"

namespace hone {

bool AreCompatible(const Target& a, const Target& b) {
  return a.kind == b.kind && a.VectorBytes() == b.VectorBytes() &&
         a.VectorRegisters() == b.VectorRegisters() && a.threads == b.threads;
}

bool AreCompatible(const std::string& a, const std::string& b) {
  const absl::StatusOr<Target> first = Target::Parse(a);
  const absl::StatusOr<Target> second = Target::Parse(b);
  return first.ok() && second.ok() && AreCompatible(*first, *second);
}

}  // namespace hone
