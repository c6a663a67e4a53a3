#include "compiler/ir/compatible_targets.h"

namespace hone {
namespace {

bool AreCompatibleKinds(const CpuTarget& a, const CpuTarget& b) {
  return a.VectorBytes() == b.VectorBytes() && a.VectorRegisters() == b.VectorRegisters() &&
         a.threads == b.threads && a.facts.is_emulated == b.facts.is_emulated;
}

bool AreCompatibleKinds(const CudaTarget& a, const CudaTarget& b) { return a.arch == b.arch; }

bool AreCompatibleKinds(const OpenClTarget& a, const OpenClTarget& b) {
  return a.device == b.device;
}

template <class A, class B>
bool AreCompatibleKinds(const A&, const B&) {
  return false;
}

}  // namespace

bool AreCompatible(const Target& a, const Target& b) {
  return std::visit([](const auto& x, const auto& y) { return AreCompatibleKinds(x, y); }, a.kind,
                    b.kind);
}

bool AreCompatible(const std::string& a, const std::string& b) {
  const absl::StatusOr<Target> first = Target::Parse(a);
  const absl::StatusOr<Target> second = Target::Parse(b);
  return first.ok() && second.ok() && AreCompatible(*first, *second);
}

}  // namespace hone
