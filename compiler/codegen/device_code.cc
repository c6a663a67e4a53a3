#include "compiler/codegen/device_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/loop/visit.h"

namespace hone::codegen {
namespace {

// Several warps of every GPU.
constexpr int64_t kBlockThreads = 128;

// CUDA's limit for every architecture. OpenCL tells none; no device is known to have more.
constexpr int64_t kMostThreadBytes = 512 << 10;

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

absl::Status CheckThreadMemory(const loop::Stmt& body, const std::string& launch) {
  int64_t bytes = 0;
  loop::Walk(body, [&](const loop::Stmt& s) {
    const bool is_own =
        s->kind == loop::StmtKind::kAlloc && s->buffer->scope != loop::Scope::kShared;
    if (is_own) bytes += s->buffer->SizeBytes();
    return true;
  });
  if (bytes <= kMostThreadBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "expected a launch whose threads have at most {} bytes of memory for themselves, which is "
      "what devices allow, found {} in {}",
      kMostThreadBytes, bytes, launch));
}

}  // namespace hone::codegen
