#include "compiler/machine/background_copies.h"

#include <variant>

namespace hone::machine {

bool CopiesInBackground(const Target& target) {
  const auto* const cuda = std::get_if<CudaTarget>(&target.kind);
  return cuda != nullptr && !cuda->arch.starts_with("sm_7");
}

}  // namespace hone::machine
