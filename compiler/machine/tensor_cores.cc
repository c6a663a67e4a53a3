#include "compiler/machine/tensor_cores.h"

#include <variant>

namespace hone::machine {

TensorCores TensorCores::Of(const Target& target) {
  const auto* const cuda = std::get_if<CudaTarget>(&target.kind);
  if (cuda == nullptr) return {};
  if (cuda->arch.starts_with("sm_7")) return {};
  // The least of all architectures (CUDA C++ Programming Guide, "Compute Capabilities"): code for
  // one runs on those after it, which may have less. Code for sm_90a runs on no other.
  constexpr int64_t kSharedBytes = 99 << 10;
  constexpr int64_t kSharedBytesOfHopper = 227 << 10;
  const bool is_hopper = cuda->arch == "sm_90a";
  return {.takes_bfloat16 = true,
          .takes_float16 = true,
          .has_warpgroups = is_hopper,
          .shared_bytes = is_hopper ? kSharedBytesOfHopper : kSharedBytes};
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
