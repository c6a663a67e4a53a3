#include "compiler/machine/vector_access.h"

#include <variant>

namespace hone::machine {

bool HasVectorAccess(const Target& target) {
  return std::holds_alternative<CudaTarget>(target.kind);
}

}  // namespace hone::machine
