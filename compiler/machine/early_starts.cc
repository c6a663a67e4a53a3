#include "compiler/machine/early_starts.h"

#include <variant>

namespace hone::machine {

bool StartsEarly(const Target& target) {
  const auto* const cuda = std::get_if<CudaTarget>(&target.kind);
  return cuda != nullptr && !cuda->arch.starts_with("sm_7") && !cuda->arch.starts_with("sm_8");
}

}  // namespace hone::machine
