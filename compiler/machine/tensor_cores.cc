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
  // A100 and H100 multiply TF32 at 8 and 5 times the rate of multiply-adds. Those of sm_86 and
  // sm_89 do so at the same rate (NVIDIA's whitepapers of GA102 and AD102).
  const bool has_fast_tf32 = cuda->arch == "sm_80" || cuda->arch == "sm_90" || is_hopper;
  return {.takes_bfloat16 = true,
          .takes_float16 = true,
          .has_fast_tf32 = has_fast_tf32,
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
