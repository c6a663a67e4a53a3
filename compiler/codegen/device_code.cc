#include "compiler/codegen/device_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hone::codegen {
namespace {

// Several warps of every GPU.
constexpr int64_t kBlockThreads = 128;

}  // namespace

absl::StatusOr<LinearGrid> LinearGridFor(int64_t threads, int64_t block_threads,
                                         int64_t most_threads, const std::string& launch) {
  if (most_threads > 0 && block_threads > most_threads) {
    return absl::InvalidArgumentError(
        fmt::format("expected a launch with at most {} threads in a block, found {} in {}",
                    most_threads, block_threads, launch));
  }
  const int64_t most = most_threads > 0 ? most_threads : kBlockThreads;
  if (block_threads == 0) {
    block_threads = std::max<int64_t>(std::min({threads, most, kBlockThreads}), 1);
  }
  const int64_t blocks = std::max<int64_t>((threads + block_threads - 1) / block_threads, 1);
  if (blocks > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        fmt::format("expected a launch of fewer blocks, found {} in {}", blocks, launch));
  }
  return LinearGrid{static_cast<uint32_t>(blocks), static_cast<uint32_t>(block_threads)};
}

}  // namespace hone::codegen
