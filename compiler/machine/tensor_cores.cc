#include "compiler/machine/tensor_cores.h"

#include <variant>

namespace hone::machine {

TensorCores TensorCores::Of(const Target& target) {
  const auto* const cuda = std::get_if<CudaTarget>(&target.kind);
  if (cuda == nullptr) return {};
  const bool is_older = cuda->arch.starts_with("sm_7");
  return {.takes_bfloat16 = !is_older, .takes_float16 = !is_older};
}

bool TensorCores::Takes(DataType dtype) const {
  switch (dtype) {
    case DataType::kBFloat16:
      return takes_bfloat16;
    case DataType::kFloat16:
      return takes_float16;
    default:
      return false;
  }
}

}  // namespace hone::machine
